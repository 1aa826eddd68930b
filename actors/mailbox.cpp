#include "rt/actors/mailbox.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <cstring>

#include "rt/runtime/base/log.h"
#include "rt/runtime/net/ring_transport.h"

namespace rt::detail {

Mailbox::Mailbox(boost::asio::io_context& io, std::uint64_t actor, std::uint32_t incarnation, Limits limits)
    : actor_(actor),
      incarnation_(incarnation),
      limits_(limits),
      io_(io),
      poller_(RingPoller::of(io)),
      store_(ProcessStore::of(io)) {}

void Mailbox::take_on(std::uint64_t actor, std::uint32_t incarnation) {
  incarnation_ = incarnation;
  actor_.store(actor, std::memory_order_release);
  boost::asio::post(io_, [this] {
    for (Fd& socket : std::exchange(early_, {})) on_connected(std::move(socket));
  });
}

Status Mailbox::open(const std::string& address) {
  RT_TRY(listener, UnixListener::open(io_, address, [this](Fd socket) { on_connected(std::move(socket)); }));
  listener_ = std::move(listener);
  return Unit{};
}

void Mailbox::on_connected(Fd socket) {
  if (actor_.load(std::memory_order_acquire) == 0) return early_.push_back(std::move(socket));
  const auto caller = make_ring_transport(io_, socket.release(), RingSide::Accepting);
  if (!caller) return log::error("a caller was turned away: {}", caller.error().message);
  welcome(*caller);
}

void Mailbox::welcome(const std::shared_ptr<Transport>& caller) {
  store_.opened(caller->peer_pid());
  caller->start({.on_frame =
                     [this, held = std::weak_ptr(caller)](const Frame& frame) {
                       if (const auto connection = held.lock()) put(connection, frame);
                     },
                 .on_close =
                     [this, gone = caller.get(), pid = caller->peer_pid()](const Error& error) {
                       store_.closed(pid);
                       if (on_grant_) on_grant_(gone, 0, 0);
                       if (error.code == Code::Corrupt) log::warning("a caller: {}", error.message);
                     }});
}

void Mailbox::put(const std::shared_ptr<Transport>& caller, const Frame& frame) {
  wire::CallHeader header;
  const bool is_known = frame.type == FrameType::Call || frame.type == FrameType::Cancel ||
                        frame.type == FrameType::Grant || frame.type == FrameType::Probe;
  if (!is_known || frame.body.size() < sizeof header) return caller->close();
  std::memcpy(&header, frame.body.data(), sizeof header);
  // An older incarnation's call is refused, never run.
  if (frame.route != actor() || header.incarnation != incarnation_) return caller->close();
  if (frame.type == FrameType::Cancel) return cancel(caller, header.sequence);
  if (frame.type == FrameType::Probe) {
    if (on_probe_) on_probe_(caller.get(), header.sequence, frame.body.substr(sizeof header));
    return;
  }
  if (frame.type == FrameType::Grant) {
    if (on_grant_ && header.sequence != 0) on_grant_(caller.get(), header.sequence, header.method);
    return;
  }
  const std::string_view body = frame.body.substr(sizeof header);
  Letter letter{caller, header, header.objects > 0 ? Bytes() : Bytes(body)};
  if (header.objects > 0 && !receive_objects(letter, body)) return;
  if (frame.objects) letter.objects = *frame.objects;
  if (take_urgent_ && take_urgent_(letter)) return;
  if (taker_.load(std::memory_order_relaxed) == RingPoller::this_thread() &&
      waiting_.load(std::memory_order_relaxed) == 0) {
    taker_.store(nullptr, std::memory_order_relaxed);
    current_ = std::move(letter);
    poller_.complete(arrived_);
    return poller_.stop_polling();
  }
  keep(std::move(letter));
}

// False: they didn't come, and the caller has been told.
bool Mailbox::receive_objects(Letter& letter, std::string_view body) {
  const Status received = store_.receive(*letter.from, letter.header, body, letter.objects);
  letter.header.objects = 0;  // of the reply
  letter.arguments = Bytes(body);
  if (received) return true;
  wire::CallHeader header = letter.header;
  header.outcome = wire::Outcome::Lost;
  if (header.sequence != 0)
    (void)letter.from->send(FrameType::Reply, actor(), {reinterpret_cast<const char*>(&header), sizeof header},
                            received.error().message);
  return false;
}

void Mailbox::keep(Letter letter) {
  {
    const std::lock_guard lock(mutex_);
    count(letter);
    letters_.push_back(std::move(letter));
    waiting_.fetch_add(1, std::memory_order_seq_cst);
  }
  tell_arrived();
}

// Under the lock, as the next.
void Mailbox::count(const Letter& letter) {
  ++count_;
  bytes_ += letter.arguments.size();
  if (!is_full(limits_.max_letters, limits_.max_bytes)) return;
  letter.from->hold();
  held_.push_back(letter.from);
}

void Mailbox::uncount(const Letter& letter) {
  --count_;
  bytes_ -= letter.arguments.size();
  if (held_.empty() || is_full(limits_.max_letters / 2 + 1, limits_.max_bytes / 2 + 1)) return;
  for (const auto& caller : std::exchange(held_, {})) caller->resume();
}

void Mailbox::set_aside(const Letter& letter) {
  const std::lock_guard lock(mutex_);
  count(letter);
}

void Mailbox::picked_up(const Letter& letter) {
  const std::lock_guard lock(mutex_);
  uncount(letter);
}

void Mailbox::post(Job& job) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push(job);
    waiting_.fetch_add(1, std::memory_order_seq_cst);
  }
  tell_arrived();
}

void Mailbox::tell_arrived() {
  if (is_awaited_.exchange(false, std::memory_order_seq_cst)) poller_.complete(arrived_);
}

std::size_t Mailbox::pending() {
  const std::lock_guard lock(mutex_);
  return count_;
}

void Mailbox::pause() {
  Waiter nothing;
  poller_.wait(nothing, SystemClock().now() + std::chrono::milliseconds(1));
}

Executor::Job* Mailbox::next_job() {
  const std::lock_guard lock(mutex_);
  Job* const job = jobs_.pop();
  if (job) waiting_.fetch_sub(1, std::memory_order_relaxed);
  return job;
}

bool Mailbox::take_waiting() {
  while (waiting_.load(std::memory_order_seq_cst) > 0) {
    if (Job* const job = next_job()) {
      job->run(*job);
      continue;
    }
    const std::lock_guard lock(mutex_);
    if (letters_.empty()) continue;
    current_ = std::move(letters_.front());
    letters_.pop_front();
    uncount(current_);
    waiting_.fetch_sub(1, std::memory_order_relaxed);
    return true;
  }
  return false;
}

std::optional<Mailbox::Letter> Mailbox::take_out(const Transport* caller, std::uint64_t sequence) {
  const std::lock_guard lock(mutex_);
  const auto it = std::find_if(letters_.begin(), letters_.end(), [&](const Letter& letter) {
    return letter.from.get() == caller && letter.header.sequence == sequence;
  });
  if (it == letters_.end()) return std::nullopt;
  Letter letter = std::move(*it);
  letters_.erase(it);
  uncount(letter);
  waiting_.fetch_sub(1, std::memory_order_relaxed);
  return letter;
}

void Mailbox::cancel(const std::shared_ptr<Transport>& caller, std::uint64_t sequence) {
  if (sequence == 0) return;
  const auto letter = take_out(caller.get(), sequence);
  if (!letter && on_cancel_) return on_cancel_(caller.get(), sequence);
  if (!letter) return;
  wire::CallHeader header = letter->header;
  header.outcome = wire::Outcome::Cancelled;
  (void)caller->send(FrameType::Reply, actor(), {reinterpret_cast<const char*>(&header), sizeof header});
}

// Another thread may find it awaited just before it stops to wait: the next wait then ends early, and begins again.
Mailbox::Letter& Mailbox::take() {
  if (!current_.objects.empty()) current_.objects.clear();  // it has been answered
  while (!take_waiting()) {
    arrived_.reset();
    is_awaited_.store(true, std::memory_order_seq_cst);
    bool was_handed_over = false;
    if (waiting_.load(std::memory_order_seq_cst) == 0) {
      taker_.store(RingPoller::this_thread(), std::memory_order_relaxed);
      poller_.wait(arrived_, TimePoint::max());
      was_handed_over = taker_.load(std::memory_order_relaxed) == nullptr;
      taker_.store(nullptr, std::memory_order_relaxed);
    }
    is_awaited_.store(false, std::memory_order_relaxed);
    if (was_handed_over) break;
  }
  return current_;
}

}  // namespace rt::detail
