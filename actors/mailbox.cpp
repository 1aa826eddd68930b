#include "rt/actors/mailbox.h"

#include <cstring>

#include "rt/runtime/base/log.h"
#include "rt/runtime/net/ring_transport.h"

namespace rt::detail {

Mailbox::Mailbox(boost::asio::io_context& io, std::uint64_t actor, std::uint32_t incarnation, Limits limits)
    : actor_(actor), incarnation_(incarnation), limits_(limits), io_(io), poller_(RingPoller::of(io)) {}

Status Mailbox::open(const std::string& address) {
  RT_TRY(listener, UnixListener::open(io_, address, [this](Fd socket) {
           const auto caller = make_ring_transport(io_, socket.release(), RingSide::Accepting);
           if (!caller) return log::error("a caller was turned away: {}", caller.error().message);
           welcome(*caller);
         }));
  listener_ = std::move(listener);
  return Unit{};
}

void Mailbox::welcome(const std::shared_ptr<Transport>& caller) {
  caller->start({.on_frame =
                     [this, held = std::weak_ptr(caller)](const Frame& frame) {
                       if (const auto connection = held.lock()) put(connection, frame);
                     },
                 .on_close =
                     [](const Error& error) {
                       if (error.code == Code::Corrupt) log::warning("a caller: {}", error.message);
                     }});
}

void Mailbox::put(const std::shared_ptr<Transport>& caller, const Frame& frame) {
  wire::CallHeader header;
  if (frame.type != FrameType::Call || frame.body.size() < sizeof header) return caller->close();
  std::memcpy(&header, frame.body.data(), sizeof header);
  // An older incarnation's call is refused, never run.
  if (frame.route != actor_ || header.incarnation != incarnation_) return caller->close();
  Letter letter{caller, header, Bytes(frame.body.substr(sizeof header))};
  if (take_urgent_ && take_urgent_(letter)) return;
  if (taker_ == RingPoller::this_thread() && waiting_.load(std::memory_order_relaxed) == 0) {
    taker_ = nullptr;
    current_ = std::move(letter);
    poller_.complete(arrived_);
    return poller_.stop_polling();
  }
  if (keep(letter)) return;
  const std::string why = "the actor's queue is full: " + std::to_string(limits_.max_letters) + " calls or " +
                          std::to_string(limits_.max_bytes) + " bytes are waiting";
  header.outcome = wire::Outcome::Full;
  if (header.sequence != 0)
    (void)caller->send(FrameType::Reply, actor_, {reinterpret_cast<const char*>(&header), sizeof header}, why);
}

bool Mailbox::keep(Letter& letter) {
  {
    const std::lock_guard lock(mutex_);
    const bool fits = letters_.size() < limits_.max_letters && bytes_ + letter.arguments.size() <= limits_.max_bytes;
    if (!fits && !letters_.empty()) return false;
    bytes_ += letter.arguments.size();
    letters_.push_back(std::move(letter));
    waiting_.fetch_add(1, std::memory_order_seq_cst);
  }
  if (is_awaited_.exchange(false, std::memory_order_seq_cst)) poller_.complete(arrived_);
  return true;
}

bool Mailbox::take_waiting() {
  if (waiting_.load(std::memory_order_seq_cst) == 0) return false;
  const std::lock_guard lock(mutex_);
  current_ = std::move(letters_.front());
  letters_.pop_front();
  bytes_ -= current_.arguments.size();
  waiting_.fetch_sub(1, std::memory_order_relaxed);
  return true;
}

// Another thread may find it awaited just before it stops to wait: the next wait then ends early, and begins again.
const Mailbox::Letter& Mailbox::take() {
  while (!take_waiting()) {
    arrived_.reset();
    is_awaited_.store(true, std::memory_order_seq_cst);
    bool was_handed_over = false;
    if (waiting_.load(std::memory_order_seq_cst) == 0) {
      taker_ = RingPoller::this_thread();
      poller_.wait(arrived_, TimePoint::max());
      was_handed_over = std::exchange(taker_, nullptr) == nullptr;
    }
    is_awaited_.store(false, std::memory_order_relaxed);
    if (was_handed_over) break;
  }
  return current_;
}

}  // namespace rt::detail
