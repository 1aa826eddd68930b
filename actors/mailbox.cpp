#include "rt/actors/mailbox.h"

#include <cstring>

namespace rt::detail {

Mailbox::Mailbox(std::uint64_t actor, std::uint32_t incarnation, std::size_t max_letters)
    : actor_(actor), incarnation_(incarnation), max_letters_(max_letters) {}

Mailbox::~Mailbox() {
  io_.stop();
  if (thread_.joinable()) thread_.join();
}

Status Mailbox::open(const std::string& address) {
  RT_TRY(listener, UnixListener::open(io_, address, [this](std::shared_ptr<Transport> caller) { welcome(std::move(caller)); }));
  listener_ = std::move(listener);
  thread_ = std::thread([this] { io_.run(); });
  return Unit{};
}

void Mailbox::welcome(std::shared_ptr<Transport> caller) {
  // The handler keeps the connection until it closes.
  caller->start({.on_frame = [this, caller](const Frame& frame) { put(caller, frame); }, .on_close = [](const Error&) {}});
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
  {
    const std::lock_guard lock(mutex_);
    if (letters_.size() < max_letters_) {
      letters_.push_back(std::move(letter));
      arrived_.notify_one();
      return;
    }
  }
  const std::string why = "the actor's queue is full: " + std::to_string(max_letters_) + " calls are waiting";
  header.outcome = wire::Outcome::Full;
  header.size = why.size();
  (void)caller->send(FrameType::Reply, 0, {reinterpret_cast<const char*>(&header), sizeof header}, why);
}

Mailbox::Letter Mailbox::take() {
  std::unique_lock lock(mutex_);
  arrived_.wait(lock, [this] { return !letters_.empty(); });
  Letter letter = std::move(letters_.front());
  letters_.pop_front();
  return letter;
}

}  // namespace rt::detail
