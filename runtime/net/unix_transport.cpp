// UnixTransport: frames over one connected stream socket.

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <vector>

#include "rt/runtime/net/frame_header.h"
#include "rt/runtime/net/unix_socket.h"

namespace rt {
namespace {

namespace asio = boost::asio;

constexpr std::size_t kFirstBuffer = 16 << 10;
constexpr int kReadsInARow = 64;  // then other connections have their turn

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
                                {const_cast<char*>(kZeros), frame_padding(size)}}};
    const std::lock_guard lock(mutex_);
    if (closed_) return Error{Code::NotSent, "the connection is closed"};
    const std::size_t waiting = output_.size() - written_;
    if (waiting > 0 && waiting + sizeof header + size > limits_.max_queue)
      return Error{Code::Unavailable, "the peer reads too slowly: " + std::to_string(waiting) +
                                          " bytes are waiting for it, the limit is " +
                                          std::to_string(limits_.max_queue)};
    queue_rest(parts, output_.empty() ? write_now(parts) : 0);
    return Unit{};
  }

  void hold() override { is_held_.store(true, std::memory_order_release); }
  void resume() override {
    is_held_.store(false, std::memory_order_release);
    asio::post(descriptor_.get_executor(), [self = shared_from_this()] {
      if (std::exchange(self->is_paused_, false)) self->read_available();
    });
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
  // Bytes written; an error is left for `flush` to find.
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
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno == EAGAIN) {
        drop_written();
        return wait_for_room();
      }
      if (n <= 0) {
        // Nobody reads any more. What the peer had sent before is still read; then the reader finds the end.
        ::shutdown(descriptor_.native_handle(), SHUT_RDWR);
        break;
      }
      written_ += static_cast<std::size_t>(n);
    }
    output_ = {};
    written_ = 0;
  }

  // Now and then, so that a queue that is never empty doesn't grow with all that went through it.
  void drop_written() {
    if (written_ < output_.size() / 2) return;
    output_.erase(0, written_);
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
    if (is_closed() || !deliver()) return;
    for (int reads = 0; reads < kReadsInARow; ++reads) {
      if ((is_paused_ = is_held_.load(std::memory_order_acquire))) return;
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

  // Hands over all frames that are whole, until it is held; false once the connection has ended.
  bool deliver() {
    std::size_t at = 0;
    while (filled_ - at >= sizeof(FrameHeader) && !is_held_.load(std::memory_order_acquire)) {
      FrameHeader header;
      std::memcpy(&header, input() + at, sizeof header);
      if (header.size > limits_.max_frame || !is_frame_type(header.type)) {
        fail({Code::Corrupt, "the peer sent no frame of rt: size " + std::to_string(header.size) + ", type " +
                                 std::to_string(header.type)});
        return false;
      }
      const std::size_t whole = sizeof header + header.size + frame_padding(header.size);
      if (filled_ - at < whole) break;
      handlers_.on_frame(
          {static_cast<FrameType>(header.type), header.route, {input() + at + sizeof header, header.size}});
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
  bool is_paused_ = false;            // it was held: nobody waits for input
  std::atomic<bool> is_held_{false};

  std::mutex mutex_;    // guards all below
  std::string output_;  // what the kernel didn't take yet
  std::size_t written_ = 0;
  bool closed_ = false;
};

}  // namespace

std::shared_ptr<Transport> make_unix_transport(asio::io_context& io, int fd, TransportLimits limits) {
  ::fcntl(fd, F_SETFD, FD_CLOEXEC);  // one that was inherited may lack it
  return std::make_shared<UnixTransport>(io, fd, limits);
}

}  // namespace rt
