#include "rt/runtime/net/unix_socket.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <cstring>
#include <utility>

#include "rt/runtime/base/log.h"

namespace rt {
namespace {

namespace asio = boost::asio;

Result<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return Error{Code::Invalid, "the socket path is " + std::to_string(path.size()) +
                                    " bytes long, the system allows 107: " + path +
                                    "; set RT_RUN_DIR to a shorter folder"};
  std::memcpy(address.sun_path, path.c_str(), path.size());
  return address;
}

bool is_own_user(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == ::geteuid();
}

// The listening socket; lives until its last handler has run.
class Acceptor : public std::enable_shared_from_this<Acceptor> {
 public:
  Acceptor(asio::io_context& io, int fd, UnixListener::OnAccept on_accept)
      : descriptor_(io, fd), pause_(io), on_accept_(std::move(on_accept)) {}

  void wait() {
    descriptor_.async_wait(asio::posix::stream_descriptor::wait_read,
                           [self = shared_from_this()](const boost::system::error_code& error) {
                             if (!error) self->accept_all();
                           });
  }

  void close() {
    on_accept_ = nullptr;
    boost::system::error_code ignored;
    descriptor_.close(ignored);
    pause_.cancel();
  }

 private:
  void accept_all() {
    const UnixListener::OnAccept on_accept = on_accept_;  // it may destroy the listener
    while (on_accept_) {
      const int fd = ::accept4(descriptor_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (fd < 0 && (errno == EINTR || errno == ECONNABORTED)) continue;
      if (fd < 0 && errno != EAGAIN) return wait_a_while(errno);
      if (fd < 0) return wait();
      if (is_own_user(fd))
        on_accept(Fd(fd));
      else
        ::close(fd);
    }
  }

  // No descriptor is free: the caller stays in the queue, and looking again at once would only burn a core.
  void wait_a_while(int number) {
    if (!std::exchange(complained_, true))
      log::error("cannot accept a connection: {}; trying on", std::strerror(number));
    pause_.expires_after(std::chrono::milliseconds(50));
    pause_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
      if (!error) self->accept_all();
    });
  }

  asio::posix::stream_descriptor descriptor_;
  asio::steady_timer pause_;
  UnixListener::OnAccept on_accept_;  // null once closed
  bool complained_ = false;
};

class Listener final : public UnixListener {
 public:
  Listener(std::shared_ptr<Acceptor> acceptor, std::string path)
      : acceptor_(std::move(acceptor)), path_(std::move(path)) {}
  ~Listener() override {
    acceptor_->close();
    ::unlink(path_.c_str());
  }

 private:
  const std::shared_ptr<Acceptor> acceptor_;
  const std::string path_;
};

}  // namespace

Result<Fd> connect_unix_socket(const std::string& path) {
  RT_TRY(address, address_of(path));
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) return system_error("cannot make a socket for " + path, errno);
  int rc;
  do rc = ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  while (rc != 0 && errno == EINTR);
  if (rc == 0) return fd;
  if (errno != ENOENT && errno != ECONNREFUSED) return system_error("cannot connect to " + path, errno);
  return Error{Code::NotSent, "nobody answers at " + path + ": " + std::strerror(errno)};
}

Result<std::shared_ptr<Transport>> connect_unix(asio::io_context& io, const std::string& path, TransportLimits limits) {
  RT_TRY(fd, connect_unix_socket(path));
  return make_unix_transport(io, fd.release(), limits);
}

Result<std::unique_ptr<UnixListener>> UnixListener::open(asio::io_context& io, std::string path, OnAccept on_accept) {
  RT_TRY(address, address_of(path));
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return system_error("cannot make a socket for " + path, errno);
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(fd.get(), SOMAXCONN) != 0)
    return system_error("cannot listen at " + path, errno);
  auto acceptor = std::make_shared<Acceptor>(io, fd.release(), std::move(on_accept));
  acceptor->wait();
  return std::unique_ptr<UnixListener>(std::make_unique<Listener>(std::move(acceptor), std::move(path)));
}

}  // namespace rt
