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
  if (header.actor != actor_ || header.incarnation != incarnation_ || header.size != frame.body.size() - sizeof header)
    return caller->close();
  Letter letter{caller, header, std::string(frame.body.substr(sizeof header))};
  if (take_urgent_ && take_urgent_(letter)) return;
  if (keep(letter)) return;
  const std::string why = "the actor's queue is full: " + std::to_string(limits_.max_letters) + " calls or " +
                          std::to_string(limits_.max_bytes) + " bytes are waiting";
  header.outcome = wire::Outcome::Full;
  header.size = why.size();
  if (header.sequence != 0)
    (void)caller->send(FrameType::Reply, 0, {reinterpret_cast<const char*>(&header), sizeof header}, why);
}

bool Mailbox::keep(Letter& letter) {
  const std::lock_guard lock(mutex_);
  const bool fits = letters_.size() < limits_.max_letters && bytes_ + letter.arguments.size() <= limits_.max_bytes;
  if (!fits && !letters_.empty()) return false;
  bytes_ += letter.arguments.size();
  letters_.push_back(std::move(letter));
  if (std::exchange(is_awaited_, false)) poller_.complete(arrived_);
  return true;
}

Mailbox::Letter Mailbox::take() {
  std::unique_lock lock(mutex_);
  while (letters_.empty()) {
    is_awaited_ = true;
    arrived_.reset();
    lock.unlock();
    poller_.wait(arrived_, TimePoint::max(), RingPoller::ComeBack);
    lock.lock();
  }
  Letter letter = std::move(letters_.front());
  letters_.pop_front();
  bytes_ -= letter.arguments.size();
  return letter;
}

}  // namespace rt::detail
