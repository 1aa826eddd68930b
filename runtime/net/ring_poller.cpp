#include "rt/runtime/net/ring_poller.h"

#include <fcntl.h>
#include <immintrin.h>

#include <algorithm>

#include "rt/runtime/base/log.h"
#include "rt/runtime/net/futex.h"

namespace rt {

namespace asio = boost::asio;

asio::execution_context::id RingPoller::id;
thread_local bool RingPoller::rang_ = false;

RingPoller::RingPoller(asio::execution_context& context)
    : service(context), io_(static_cast<asio::io_context&>(context)), bell_(OwnBell::make()), event_(io_) {
  if (!bell_) return;
  const int event = ::fcntl(bell_->event_fd(), F_DUPFD_CLOEXEC, 0);
  if (event < 0) {
    bell_ = system_error("cannot wait for the bell", errno);
    return;
  }
  event_.assign(event);
  wait_for_event();
}

void RingPoller::shutdown() {
  take_new_links();  // no other thread is here any more
  links_.clear();
}

Result<BellFds> RingPoller::bell_for_peer() {
  if (!bell_) return bell_.error();
  return bell_->fds_for_peer();
}

void RingPoller::add(std::shared_ptr<Link> link) {
  {
    const std::lock_guard lock(mutex_);
    new_links_.push_back(std::move(link));
    has_new_links_.store(true, std::memory_order_release);
  }
  wake();
}

void RingPoller::wake() {
  if (bell_) bell_->ring();
}

void RingPoller::complete(Waiter& waiter) {
  if (waiter.word_.exchange(Waiter::Done, std::memory_order_seq_cst) == Waiter::Asleep)
    futex_wake(waiter.word_);
  else if (bell_)
    bell_->ring_sleeper();  // it may be the leader's own
}

bool RingPoller::wait(Waiter& waiter, TimePoint until, Afterwards afterwards) {
  bool was_offered_the_lead = false;
  while (!waiter.is_done()) {
    if (take_token()) {
      lead(waiter, until);
      leave(waiter.is_done() ? afterwards : GoAway);
      was_offered_the_lead = false;
    } else {
      was_offered_the_lead = follow(waiter, until);
    }
    if (!waiter.is_done() && SystemClock().now() >= until) break;
  }
  if (was_offered_the_lead) hand_over();
  return waiter.is_done();
}

void RingPoller::lead(Waiter& waiter, TimePoint until) {
  bell_->set(Bell::Awake);
  bool may_spin = !std::exchange(rang_, false);
  while (!waiter.is_done()) {
    if (poll()) continue;
    if (waiter.is_done()) return;
    if (may_spin && spin(waiter)) continue;
    bell_->set(Bell::Asleep);
    if (!has_work() && !waiter.is_done()) {
      const TimePoint now = SystemClock().now();
      if (now >= until) return;
      bell_->sleep(until - now);
    }
    bell_->set(Bell::Awake);
    may_spin = true;
  }
}

// True where there is something to look at.
bool RingPoller::spin(const Waiter& waiter) {
  constexpr int kLooksABreath = 16;
  const TimePoint begin = SystemClock().now();
  const SpinBudget::Nanoseconds budget = budget_.at(begin);
  for (TimePoint now = begin; now - begin < budget;) {
    for (int i = 0; i < kLooksABreath; ++i) {
      if (has_work() || waiter.is_done()) {
        budget_.succeeded();
        return true;
      }
      _mm_pause();
    }
    const TimePoint before = now;
    now = SystemClock().now();
    budget_.looked(before, now);
  }
  budget_.failed();
  return false;
}

// Asleep until the leader has the answer, or offers the lead. It says that it sleeps before it looks for a reader.
bool RingPoller::follow(Waiter& waiter, TimePoint until) {
  {
    const std::lock_guard lock(mutex_);
    followers_.push_back(&waiter);
    follower_count_.fetch_add(1, std::memory_order_seq_cst);
  }
  std::uint32_t word = Waiter::Pending;
  if (waiter.word_.compare_exchange_strong(word, Waiter::Asleep)) {
    if (has_reader_.load(std::memory_order_seq_cst))
      futex_wait(waiter.word_, Waiter::Asleep,
                 std::min<std::chrono::nanoseconds>(until - SystemClock().now(), OwnBell::kLongestSleep));
  }
  {
    const std::lock_guard lock(mutex_);
    followers_.erase(std::find(followers_.begin(), followers_.end(), &waiter));
    follower_count_.fetch_sub(1, std::memory_order_seq_cst);
  }
  word = Waiter::Asleep;
  if (waiter.word_.compare_exchange_strong(word, Waiter::Pending)) return false;
  return word == Waiter::Lead && waiter.word_.compare_exchange_strong(word, Waiter::Pending);
}

// Gives the token back: to a follower, or else to the event loop, which the next ring of the bell wakes.
void RingPoller::leave(Afterwards afterwards) {
  if (afterwards == GoAway) bell_->set(Bell::Away);
  const bool is_work_left = afterwards == GoAway && has_work();
  has_reader_.store(false, std::memory_order_seq_cst);
  if (is_work_left) wake();
  if (has_missed_event_.load(std::memory_order_seq_cst) && has_missed_event_.exchange(false)) bell_->ring_event_loop();
  hand_over();
}

void RingPoller::go_away() {
  if (take_token()) leave(GoAway);
}

void RingPoller::hand_over() {
  if (follower_count_.load(std::memory_order_seq_cst) == 0) return;
  const std::lock_guard lock(mutex_);
  for (Waiter* follower : followers_) {
    std::uint32_t asleep = Waiter::Asleep;
    if (!follower->word_.compare_exchange_strong(asleep, Waiter::Lead)) continue;
    return futex_wake(follower->word_);
  }
}

bool RingPoller::poll() {
  take_new_links();
  bool found = false, is_any_over = false;
  for (const auto& link : links_) {
    found = link->poll() || found;
    is_any_over = link->has_ended() || is_any_over;
  }
  if (is_any_over)
    std::erase_if(links_, [](const std::shared_ptr<Link>& link) {
      if (!link->has_ended()) return false;
      link->end();
      return true;
    });
  return found;
}

bool RingPoller::has_work() {
  if (has_new_links_.load(std::memory_order_acquire)) return true;
  return std::any_of(links_.begin(), links_.end(), [](const auto& link) { return link->has_work(); });
}

void RingPoller::take_new_links() {
  if (!has_new_links_.load(std::memory_order_acquire)) return;
  const std::lock_guard lock(mutex_);
  has_new_links_.store(false, std::memory_order_release);
  links_.insert(links_.end(), std::make_move_iterator(new_links_.begin()), std::make_move_iterator(new_links_.end()));
  new_links_.clear();
}

void RingPoller::wait_for_event() {
  event_.async_wait(asio::posix::stream_descriptor::wait_read, [this](const boost::system::error_code& error) {
    if (error) return;
    bell_->clear_event();
    on_event();
    wait_for_event();
  });
}

void RingPoller::on_event() {
  if (!take_token()) {
    has_missed_event_.store(true, std::memory_order_seq_cst);  // its reader may be just leaving
    if (!take_token()) return;
    has_missed_event_.store(false, std::memory_order_seq_cst);
  }
  bell_->set(Bell::Awake);
  constexpr int kPollsInARow = 64;  // then the loop's other events have their turn
  for (int i = 0; i < kPollsInARow && poll(); ++i) {
  }
  leave(GoAway);
}

}  // namespace rt
