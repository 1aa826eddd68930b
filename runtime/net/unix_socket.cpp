#include "rt/runtime/net/unix_socket.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <vector>

namespace rt {
namespace {

namespace asio = boost::asio;

struct FrameHeader {
  std::uint32_t size;
  std::uint32_t type;
  std::uint64_t route;
};
static_assert(sizeof(FrameHeader) == 16);

constexpr std::size_t padding(std::size_t size) { return (8 - size % 8) % 8; }
constexpr std::size_t kFirstBuffer = 16 << 10;

class UnixTransport final : public Transport, public std::enable_shared_from_this<UnixTransport> {
 public:
  UnixTransport(asio::io_context& io, int fd, TransportLimits limits)
      : descriptor_(io, fd), limits_(limits), input_(kFirstBuffer / 8) {
    descriptor_.non_blocking(true);
  }

  void start(Handlers handlers) override {
    handlers_ = std::move(handlers);
    wait_for_input();
  }

  Status send(FrameType type, std::uint64_t route, std::string_view head, std::string_view tail) override {
    static constexpr char kZeros[8] = {};
    const std::size_t size = head.size() + tail.size();
    if (size > limits_.max_frame)
      return Error{Code::Invalid, "a message of " + std::to_string(size) + " bytes is over the limit of " +
                                      std::to_string(limits_.max_frame)};
    FrameHeader header{static_cast<std::uint32_t>(size), static_cast<std::uint32_t>(type), route};
    std::array<iovec, 4> parts{{{&header, sizeof header},
                                {const_cast<char*>(head.data()), head.size()},
                                {const_cast<char*>(tail.data()), tail.size()},
                                {const_cast<char*>(kZeros), padding(size)}}};
    const std::lock_guard lock(mutex_);
    if (closed_) return Error{Code::NotSent, "the connection is closed"};
    if (output_.size() - written_ > limits_.max_queue)
      return Error{Code::Unavailable, "the peer reads too slowly: " + std::to_string(output_.size() - written_) +
                                          " bytes are waiting for it"};
    std::size_t sent = 0;
    if (output_.empty()) sent = write_now(parts);
    queue_rest(parts, sent);
    return Unit{};
  }

  void close() override {
    {
      const std::lock_guard lock(mutex_);
      if (closed_) return;
      closed_ = true;
      ::shutdown(descriptor_.native_handle(), SHUT_RDWR);
    }
    asio::post(descriptor_.get_executor(), [self = shared_from_this()] {
      boost::system::error_code ignored;
      self->descriptor_.close(ignored);
      self->handlers_ = {};
    });
  }

 private:
  // Bytes written; an error is left for the reader to find, which sees the end of the connection too.
  std::size_t write_now(std::array<iovec, 4>& parts) {
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    const ssize_t n = ::sendmsg(descriptor_.native_handle(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    return n > 0 ? static_cast<std::size_t>(n) : 0;
  }

  void queue_rest(const std::array<iovec, 4>& parts, std::size_t sent) {
    const bool was_empty = output_.empty();
    for (const iovec& part : parts) {
      const std::size_t skip = std::min(sent, part.iov_len);
      sent -= skip;
      output_.append(static_cast<const char*>(part.iov_base) + skip, part.iov_len - skip);
    }
    if (was_empty && !output_.empty())
      asio::post(descriptor_.get_executor(), [self = shared_from_this()] { self->wait_for_room(); });
  }

  void wait_for_room() {
    descriptor_.async_wait(asio::posix::stream_descriptor::wait_write,
                           [self = shared_from_this()](const boost::system::error_code& error) {
                             if (!error) self->flush();
                           });
  }

  void flush() {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    while (written_ < output_.size()) {
      const ssize_t n = ::send(descriptor_.native_handle(), output_.data() + written_, output_.size() - written_,
                               MSG_NOSIGNAL | MSG_DONTWAIT);
      if (n <= 0) {
        if (errno == EAGAIN || errno == EINTR) wait_for_room();
        return;
      }
      written_ += static_cast<std::size_t>(n);
    }
    output_.clear();
    output_.shrink_to_fit();
    written_ = 0;
  }

  void wait_for_input() {
    descriptor_.async_wait(asio::posix::stream_descriptor::wait_read,
                           [self = shared_from_this()](const boost::system::error_code& error) {
                             if (!error) self->read_available();
                           });
  }

  char* input() { return reinterpret_cast<char*>(input_.data()); }

  void read_available() {
    while (true) {
      if (filled_ == input_.size() * 8) input_.resize(input_.size() * 2);
      const std::size_t room = input_.size() * 8 - filled_;
      const ssize_t n = ::recv(descriptor_.native_handle(), input() + filled_, room, MSG_DONTWAIT);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno == EAGAIN) break;
      if (n <= 0) return fail({Code::NotSent, n == 0 ? "the peer closed the connection" : std::strerror(errno)});
      filled_ += static_cast<std::size_t>(n);
      if (!deliver()) return;
      if (static_cast<std::size_t>(n) < room) break;
    }
    wait_for_input();
  }

  // Hands over all frames that are whole; false once the connection has ended.
  bool deliver() {
    std::size_t at = 0;
    while (filled_ - at >= sizeof(FrameHeader)) {
      FrameHeader header;
      std::memcpy(&header, input() + at, sizeof header);
      if (header.size > limits_.max_frame || header.type < 1 || header.type > 3) {
        fail({Code::Corrupt, "the peer sent no frame of rt: size " + std::to_string(header.size) + ", type " +
                                 std::to_string(header.type)});
        return false;
      }
      const std::size_t whole = sizeof header + header.size + padding(header.size);
      if (filled_ - at < whole) break;
      handlers_.on_frame({static_cast<FrameType>(header.type), header.route, {input() + at + sizeof header, header.size}});
      if (is_closed()) return false;
      at += whole;
    }
    if (at > 0) std::memmove(input(), input() + at, filled_ - at);
    filled_ -= at;
    if (filled_ == 0 && input_.size() > (std::size_t{1} << 17)) input_ = std::vector<std::uint64_t>(kFirstBuffer / 8);
    return true;
  }

  bool is_closed() {
    const std::lock_guard lock(mutex_);
    return closed_;
  }

  void fail(const Error& error) {
    {
      const std::lock_guard lock(mutex_);
      if (closed_) return;
      closed_ = true;
    }
    boost::system::error_code ignored;
    descriptor_.close(ignored);
    const Handlers handlers = std::move(handlers_);
    if (handlers.on_close) handlers.on_close(error);
  }

  asio::posix::stream_descriptor descriptor_;
  const TransportLimits limits_;
  Handlers handlers_;

  std::vector<std::uint64_t> input_;  // words, so that bodies are aligned
  std::size_t filled_ = 0;            // bytes

  std::mutex mutex_;    // guards all below
  std::string output_;  // what the kernel didn't take yet
  std::size_t written_ = 0;
  bool closed_ = false;
};

Result<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return Error{Code::Invalid, "the socket path is " + std::to_string(path.size()) +
                                    " bytes long, the system allows 107: " + path + "; set RT_RUN_DIR to a shorter folder"};
  std::memcpy(address.sun_path, path.c_str(), path.size());
  return address;
}

bool is_own_user(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == ::geteuid();
}

class Listener final : public UnixListener {
 public:
  Listener(asio::io_context& io, int fd, std::string path, OnAccept on_accept)
      : io_(io), descriptor_(io, fd), path_(std::move(path)), on_accept_(std::move(on_accept)) {
    wait();
  }
  ~Listener() override { ::unlink(path_.c_str()); }

 private:
  void wait() {
    descriptor_.async_wait(asio::posix::stream_descriptor::wait_read, [this](const boost::system::error_code& error) {
      if (error) return;
      while (true) {
        const int fd = ::accept4(descriptor_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0) break;
        if (is_own_user(fd)) on_accept_(make_unix_transport(io_, fd));
        else ::close(fd);
      }
      wait();
    });
  }

  asio::io_context& io_;
  asio::posix::stream_descriptor descriptor_;
  const std::string path_;
  const OnAccept on_accept_;
};

}  // namespace

std::shared_ptr<Transport> make_unix_transport(asio::io_context& io, int fd, TransportLimits limits) {
  return std::make_shared<UnixTransport>(io, fd, limits);
}

Result<std::shared_ptr<Transport>> connect_unix(asio::io_context& io, const std::string& path, TransportLimits limits) {
  RT_TRY(address, address_of(path));
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return system_error("no socket", errno);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    const int number = errno;
    ::close(fd);
    return Error{Code::NotSent, "nobody answers at " + path + ": " + std::strerror(number)};
  }
  return make_unix_transport(io, fd, limits);
}

Result<std::unique_ptr<UnixListener>> UnixListener::open(asio::io_context& io, std::string path, OnAccept on_accept) {
  RT_TRY(address, address_of(path));
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return system_error("no socket", errno);
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 || ::listen(fd, SOMAXCONN) != 0) {
    const int number = errno;
    ::close(fd);
    return system_error("cannot listen at " + path, number);
  }
  return std::unique_ptr<UnixListener>(std::make_unique<Listener>(io, fd, std::move(path), std::move(on_accept)));
}

}  // namespace rt
