#include "rt/runtime/net/ring_transport.h"

#include <sys/socket.h>
#include <unistd.h>

#include <tbb/spin_mutex.h>
#include <algorithm>
#include <array>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "rt/runtime/net/pass_fds.h"
#include "rt/runtime/net/ring.h"
#include "rt/runtime/net/ring_poller.h"

namespace rt {
namespace {

namespace asio = boost::asio;

constexpr std::uint32_t kVersion = 2;

// What each side says first, with its descriptors: the bell's two, and from the connecting side the rings' memory.
struct Hello {
  char magic[8] = {'r', 't', '-', 'r', 'i', 'n', 'g', '\0'};
  std::uint32_t version = kVersion;
  std::uint32_t capacity = RingLayout::kCapacity;
};

class RingTransport final : public Transport,
                            public RingPoller::Link,
                            public std::enable_shared_from_this<RingTransport> {
 public:
  RingTransport(asio::io_context& io, int fd, RingSide side, TransportLimits limits)
      : poller_(RingPoller::of(io)), socket_(io, fd), side_(side), limits_(limits) {
    socket_.non_blocking(true);
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(socket_.native_handle(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0) peer_pid_ = peer.pid;
  }

  // The connecting side can write before the other has answered; nobody needs to be rung before it has. A peer that has
  // gone already may have left last words: they are read, then its end.
  Status open() {
    RT_TRY(bell, poller_.bell_for_peer());
    std::vector<Fd> fds;
    fds.push_back(std::move(bell.memory));
    fds.push_back(std::move(bell.event));
    if (side_ == RingSide::Connecting) {
      RT_TRY(memory, make_shared_memory("rt-ring", RingLayout::kBytes));
      RT_CHECK(map(memory.get()));
      fds.push_back(std::move(memory));
    }
    const Hello hello;
    const Status sent =
        send_with_fds(socket_.native_handle(), {reinterpret_cast<const char*>(&hello), sizeof hello}, fds);
    return sent || sent.error().code == Code::NotSent ? Status(Unit{}) : sent;
  }

  void start(Handlers handlers) override {
    handlers_ = std::move(handlers);
    wait_for_socket();
  }

  Status send(FrameType type, std::uint64_t route, std::string_view head, std::string_view tail) override {
    const std::size_t size = head.size() + tail.size();
    if (size > limits_.max_frame)
      return Error{Code::Invalid, "a message of " + std::to_string(size) + " bytes is over the limit of " +
                                      std::to_string(limits_.max_frame)};
    {
      const std::lock_guard lock(mutex_);
      if (is_closed_.load(std::memory_order_relaxed)) return Error{Code::NotSent, "the connection is closed"};
      if (!queue_.empty() || !writer_ || size > Ring::kMostInRecord ||
          !writer_->write(static_cast<std::uint32_t>(type), route, head, tail))
        RT_CHECK(queue(type, route, head, tail));
    }
    ring();
    return Unit{};
  }

  pid_t peer_pid() const override { return peer_pid_; }

  void alert() override {
    const std::lock_guard lock(mutex_);
    if (has_bell_)
      bell_->ring_event_loop();
    else
      is_alert_ = true;
  }

  void peer_is_dead() override {
    is_peer_gone_.store(true, std::memory_order_release);
    poller_.wake();
    asio::post(socket_.get_executor(), [self = shared_from_this()] {
      if (self->is_linked_ || self->is_closed()) return;
      if (self->read_hello() && self->is_linked_) return self->poller_.add(self);  // it may have said more
      self->fail({Code::NotSent, "the peer died before it was connected"});
      self->end();
    });
  }

  void hold() override { is_held_.store(true, std::memory_order_release); }
  void resume() override {
    is_held_.store(false, std::memory_order_release);
    poller_.wake();
  }

  void close() override {
    {
      const std::lock_guard lock(mutex_);
      if (is_closed_.exchange(true)) return;
      ::shutdown(socket_.native_handle(), SHUT_RDWR);
    }
    asio::post(socket_.get_executor(), [self = shared_from_this()] {
      boost::system::error_code ignored;
      self->socket_.close(ignored);
      if (!self->is_linked_) self->end();
    });
    poller_.wake();
  }

  // --- RingPoller::Link, on the thread that reads
  // ---------------------------------------------------------------------

  bool poll() override {
    const bool is_peer_gone = is_peer_gone_.load(std::memory_order_acquire);  // before the last look
    bool found = false;
    while (!is_closed() && !is_held() && read_one()) {
      found = true;
      if (poller_.is_stopped()) return true;
    }
    if (wants_room_.load(std::memory_order_relaxed) && !is_closed() && flush_locked()) {
      ring();
      found = true;
    }
    if (is_peer_gone && !is_closed() && reader_->is_empty()) fail({Code::NotSent, "the peer closed the connection"});
    return found;
  }

  void rest() override {
    if (!is_closed() && reader_->release()) ring();
  }

  bool has_work() const override {
    return is_closed() || (!is_held() && (!reader_->is_empty() || is_peer_gone_.load(std::memory_order_acquire))) ||
           (wants_room_.load(std::memory_order_relaxed) && writer_->is_there_room());
  }
  bool has_ended() const override { return is_closed(); }

  void end() override {
    if (wants_room_.exchange(false)) poller_.neglect();
    const Handlers handlers = std::exchange(handlers_, {});
    if (handlers.on_close && error_) handlers.on_close(*error_);
  }

 private:
  struct Queued {
    FrameType type;
    std::uint64_t route;
    std::string body;
  };

  bool is_closed() const { return is_closed_.load(std::memory_order_acquire); }
  bool is_held() const { return is_held_.load(std::memory_order_acquire); }
  int sending() const { return side_ == RingSide::Connecting ? 0 : 1; }

  Status map(int memory) {
    RT_TRY(out, Ring::map(memory, sending()));
    RT_TRY(in, Ring::map(memory, 1 - sending()));
    writer_.emplace(std::move(out));
    reader_.emplace(std::move(in));
    return Unit{};
  }

  // The peer's hello, then its end.
  void wait_for_socket() {
    socket_.async_wait(asio::posix::stream_descriptor::wait_read,
                       [self = shared_from_this()](const boost::system::error_code& error) {
                         if (!error) self->on_socket();
                       });
  }

  void on_socket() {
    if (is_closed()) return;
    if (is_linked_) {
      is_peer_gone_.store(true, std::memory_order_release);
      return poller_.wake();
    }
    const Status read = read_hello();
    if (read && !is_linked_) return wait_for_socket();
    if (!read) {
      fail(read.error());
      return end();
    }
    poller_.add(shared_from_this());
    wait_for_socket();
  }

  Status read_hello() {
    RT_TRY(received, receive_with_fds(socket_.native_handle(), sizeof(Hello) - hello_.size(), 3));
    if (received.would_block) return Unit{};
    if (received.bytes.empty()) return Error{Code::NotSent, "the peer closed the connection"};
    hello_ += received.bytes;
    for (Fd& fd : received.fds) hello_fds_.push_back(std::move(fd));
    if (hello_.size() < sizeof(Hello)) return Unit{};
    Hello hello;
    std::memcpy(&hello, hello_.data(), sizeof hello);
    if (std::memcmp(hello.magic, Hello().magic, sizeof hello.magic) != 0)
      return Error{Code::Corrupt, "the peer doesn't speak of rings"};
    if (hello.version != kVersion || hello.capacity != RingLayout::kCapacity)
      return Error{Code::Corrupt, "the peer has rings of version " + std::to_string(hello.version) + " with " +
                                      std::to_string(hello.capacity) + " bytes, this side version " +
                                      std::to_string(kVersion) + " with " + std::to_string(RingLayout::kCapacity)};
    if (hello_fds_.size() != (side_ == RingSide::Accepting ? 3u : 2u))
      return Error{Code::Corrupt, "the peer passed " + std::to_string(hello_fds_.size()) + " descriptors"};
    const Status linked = link();
    if (!linked) return Error{Code::Corrupt, linked.error().message};
    return Unit{};
  }

  Status link() {
    {
      const std::lock_guard lock(mutex_);
      RT_CHECK(learn_of_peer());
    }
    ring();  // for what was written before the bell was known
    if (is_alert_) bell_->ring_event_loop();
    is_linked_ = true;
    return Unit{};
  }

  Status learn_of_peer() {
    RT_TRY(bell, Bell::of({std::move(hello_fds_[0]), std::move(hello_fds_[1])}));
    bell_.emplace(std::move(bell));
    if (side_ == RingSide::Accepting) {
      RT_CHECK(check_shared_memory(hello_fds_[2].get(), RingLayout::kBytes));
      RT_CHECK(map(hello_fds_[2].get()));
    }
    hello_fds_.clear();
    has_bell_.store(true, std::memory_order_release);
    (void)flush();
    return Unit{};
  }

  void ring() {
    if (has_bell_.load(std::memory_order_acquire)) RingPoller::has_rung(!bell_->ring());
  }

  // Under the lock.
  Status queue(FrameType type, std::uint64_t route, std::string_view head, std::string_view tail) {
    const std::size_t size = head.size() + tail.size();
    if (queued_ > 0 && queued_ + size > limits_.max_queue)
      return Error{Code::Unavailable, "the peer reads too slowly: " + std::to_string(queued_) +
                                          " bytes are waiting for it, the limit is " +
                                          std::to_string(limits_.max_queue)};
    std::string body;
    body.reserve(size);
    body.append(head).append(tail);
    queue_.push_back({type, route, std::move(body)});
    queued_ += size;
    (void)flush();
    return Unit{};
  }

  bool flush_locked() {
    const std::lock_guard lock(mutex_);
    return flush();
  }

  // Under the lock: writes of the queue what there is room for. True where it wrote.
  bool flush() {
    bool wrote = false;
    while (writer_ && !queue_.empty()) {
      Queued& first = queue_.front();
      const std::size_t left = first.body.size() - flushed_, piece = std::min(left, Ring::kMostInRecord);
      const std::uint32_t type = static_cast<std::uint32_t>(first.type) | (piece < left ? kMore : 0);
      if (!writer_->write(type, first.route, {first.body.data() + flushed_, piece})) {
        if (writer_->wait_for_room(piece)) break;
        continue;
      }
      wrote = true;
      flushed_ += piece;
      if (piece < left) continue;
      queued_ -= first.body.size();
      flushed_ = 0;
      queue_.pop_front();
    }
    const bool wants_room = writer_ && !queue_.empty();
    if (wants_room_.exchange(wants_room, std::memory_order_relaxed) != wants_room)
      wants_room ? poller_.attend() : poller_.neglect();
    return wrote;
  }

  bool read_one() {
    RingReader::Record record;
    const Result<bool> found = reader_->next(record);
    if (!found) {
      fail(found.error());
      return false;
    }
    if (!*found) return false;
    const std::uint32_t type = record.header.type & ~kMore;
    const std::size_t whole = partial_ + record.header.size;
    if (!is_frame_type(type) || whole > limits_.max_frame) {
      fail({Code::Corrupt,
            "the peer sent no frame of rt: size " + std::to_string(whole) + ", type " + std::to_string(type)});
      return false;
    }
    if (body_.size() * 8 < whole) body_.resize(std::max(body_.size() * 2, (whole + 7) / 8));
    char* const body = reinterpret_cast<char*>(body_.data());
    std::memcpy(body + partial_, record.bytes, record.header.size);
    if (reader_->is_much_unreleased() && reader_->release()) ring();
    if (record.header.type & kMore) {
      partial_ = whole;
      return true;
    }
    partial_ = 0;
    handlers_.on_frame({static_cast<FrameType>(type), record.header.route, {body, whole}});
    if (body_.size() > kMostWordsKept) body_ = std::vector<std::uint64_t>(64);
    return true;
  }

  void fail(const Error& error) {
    const std::lock_guard lock(mutex_);
    if (is_closed_.exchange(true)) return;
    error_ = error;
    ::shutdown(socket_.native_handle(), SHUT_RDWR);
    asio::post(socket_.get_executor(), [self = shared_from_this()] {
      boost::system::error_code ignored;
      self->socket_.close(ignored);
    });
  }

  static constexpr std::size_t kMostWordsKept = 8 << 10;

  RingPoller& poller_;
  asio::posix::stream_descriptor socket_;
  const RingSide side_;
  pid_t peer_pid_ = 0;
  const TransportLimits limits_;
  std::atomic<bool> is_closed_{false};
  std::atomic<bool> is_peer_gone_{false};
  std::atomic<bool> is_held_{false};

  // On the event loop.
  std::string hello_;
  std::vector<Fd> hello_fds_;
  bool is_linked_ = false;

  // On the thread that reads.
  Handlers handlers_;
  std::optional<RingReader> reader_;
  std::vector<std::uint64_t> body_{std::vector<std::uint64_t>(64)};  // words, so that bodies are aligned
  std::size_t partial_ = 0;                                          // bytes of a frame in pieces
  std::optional<Error> error_;                                       // why it has ended; none where this side closed it

  tbb::spin_mutex mutex_;  // held for a copy at most; guards all below
  std::optional<RingWriter> writer_;
  std::optional<Bell> bell_;  // the peer's; set once
  std::atomic<bool> has_bell_{false};
  bool is_alert_ = false;  // once there is a bell
  std::deque<Queued> queue_;
  std::size_t queued_ = 0;   // bytes in it
  std::size_t flushed_ = 0;  // of its first
  std::atomic<bool> wants_room_{false};
};

}  // namespace

Result<std::shared_ptr<Transport>> make_ring_transport(asio::io_context& io, int fd, RingSide side,
                                                       TransportLimits limits) {
  auto transport = std::make_shared<RingTransport>(io, fd, side, limits);
  RT_CHECK(transport->open());
  return std::shared_ptr<Transport>(std::move(transport));
}

}  // namespace rt
