#include "rt/runtime/net/ring_poller.h"

#include <fcntl.h>
#include <immintrin.h>
#include <sched.h>

#include <algorithm>
#include <boost/asio/post.hpp>

#include "rt/runtime/base/log.h"
#include "rt/runtime/net/futex.h"

namespace rt {

namespace asio = boost::asio;

asio::execution_context::id RingPoller::id;
thread_local bool RingPoller::rang_ = false;
thread_local bool RingPoller::polls_here_ = false;

const void* RingPoller::this_thread() { return &rang_; }

void Waiter::reset() {
  word_.store(Pending, std::memory_order_relaxed);
  owner_.store(RingPoller::this_thread(), std::memory_order_relaxed);
}

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
  is_called_.store(true, std::memory_order_seq_cst);
  if (!bell_ || bell_->ring_sleeper()) return;
  if (!has_reader_.load(std::memory_order_seq_cst)) bell_->ring_event_loop();
}

void RingPoller::attend() {
  attentions_.fetch_add(1, std::memory_order_seq_cst);
  if (!has_reader_.load(std::memory_order_seq_cst) && bell_ && !bell_->is(Bell::Away)) bell_->ring_event_loop();
}

void RingPoller::take_turns(Turns& turns) {
  turns_ = &turns;
  event_.close();
}

void RingPoller::post(std::function<void()> run) {
  if (turns_) return turns_->post(std::move(run));
  asio::post(io_, std::move(run));
}

void RingPoller::complete(Waiter& waiter) {
  if (turns_) {
    waiter.word_.store(Waiter::Done, std::memory_order_release);
    turns_->completed(waiter);
  } else if (waiter.owner_.load(std::memory_order_relaxed) == this_thread())  // it polls
    waiter.word_.store(Waiter::Done, std::memory_order_release);
  else if (waiter.word_.exchange(Waiter::Done, std::memory_order_seq_cst) == Waiter::Asleep)
    futex_wake(waiter.word_);
  else if (bell_)
    bell_->ring_sleeper();  // it may be the leader's own
}

bool RingPoller::wait(Waiter& waiter, TimePoint until) {
  if (turns_) return turns_->wait(waiter, until);
  bool was_offered_the_lead = false;
  while (!waiter.is_done()) {
    if (take_token()) {
      lead(waiter, until);
      leave();
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
  bool has_rung = std::exchange(rang_, false);
  while (!waiter.is_done()) {
    if (poll()) continue;
    if (waiter.is_done()) return;
    if (spin(waiter, has_rung)) continue;
    if (until != TimePoint::max() && SystemClock().now() >= until) return;
    sleep(waiter, until);
    has_rung = false;
  }
}

// It says that it sleeps, looks once more, and sleeps.
void RingPoller::sleep(const Waiter& waiter, TimePoint until) {
  bell_->set(Bell::Asleep);
  for (const auto& link : links_) link->rest();
  if (!has_work() && !waiter.is_done())
    bell_->sleep(until == TimePoint::max() ? OwnBell::kLongestSleep : until - SystemClock().now());
  bell_->set(Bell::Awake);
}

// Moves this thread to the next core that it may use, where there is one, and then lets it run on any again.
void RingPoller::step_aside() {
  cpu_set_t allowed, next;
  const int here = ::sched_getcpu();
  if (here < 0 || ::sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2) return;
  int core = here;
  do core = (core + 1) % CPU_SETSIZE;
  while (!CPU_ISSET(core, &allowed));
  CPU_ZERO(&next);
  CPU_SET(core, &next);
  if (::sched_setaffinity(0, sizeof next, &next) == 0) ::sched_setaffinity(0, sizeof allowed, &allowed);
}

// True where there is something to look at. The first looks follow each other closely: an answer takes a few hundred
// nanoseconds, a pause up to fifty.
bool RingPoller::spin(const Waiter& waiter, bool has_rung) {
  constexpr int kLooksABreath = 16, kCloseBreaths = 4;
  const TimePoint begin = SystemClock().now();
  const SpinBudget::Nanoseconds budget = budget_.begin(begin, has_rung);
  if (budget <= SpinBudget::Nanoseconds{0}) return false;
  if (budget_.steps_aside()) step_aside();
  int breaths = 0;
  for (TimePoint now = begin; now - begin < budget; ++breaths) {
    for (int i = 0; i < kLooksABreath; ++i) {
      if (has_work() || waiter.is_done()) {
        budget_.succeeded();
        return true;
      }
      if (breaths >= kCloseBreaths) _mm_pause();
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

// Gives the token back: to a follower, to the event loop where something wants attention, or to nobody.
void RingPoller::leave() {
  const bool is_attended = attentions_.load(std::memory_order_seq_cst) > 0;
  bool is_work_left = false;
  if (is_attended) {
    bell_->set(Bell::Away);
    is_work_left = has_work();
  }
  has_reader_.store(false, std::memory_order_seq_cst);
  if (is_work_left || is_called_.load(std::memory_order_seq_cst) ||
      (!is_attended && attentions_.load(std::memory_order_seq_cst) > 0))
    bell_->ring_event_loop();
  hand_over();
}

void RingPoller::look() {
  if (turns_ || has_reader_.load(std::memory_order_relaxed) || !take_token()) return;
  poll();
  leave();
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

// Each link has its turn; who stopped it begins with the next one.
bool RingPoller::poll() {
  const bool was_called =
      is_called_.load(std::memory_order_relaxed) && is_called_.exchange(false, std::memory_order_seq_cst);
  take_new_links();
  polls_here_ = true;
  bool found = false, is_any_over = false;
  is_stopped_ = false;
  const std::size_t count = links_.size();
  for (std::size_t i = 0; i < count && !is_stopped_; ++i) {
    if (next_link_ >= count) next_link_ = 0;
    Link& link = *links_[next_link_++];
    found = link.poll() || found;
    is_any_over = link.has_ended() || is_any_over;
  }
  if (is_any_over) end_links();
  polls_here_ = false;
  if (is_stopped_ && was_called) is_called_.store(true, std::memory_order_seq_cst);  // not all was looked at
  return found;
}

void RingPoller::end_links() {
  std::vector<std::shared_ptr<Link>> over;
  std::erase_if(links_, [&](const std::shared_ptr<Link>& link) {
    if (!link->has_ended()) return false;
    over.push_back(link);
    return true;
  });
  for (const auto& link : over) link->end();
}

bool RingPoller::has_work() {
  if (has_new_links_.load(std::memory_order_acquire) || is_called_.load(std::memory_order_relaxed)) return true;
  for (const auto& link : links_)
    if (link->has_work()) return true;
  return false;
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

// A ring of a process that nobody attends is an urgent one.
void RingPoller::on_event() {
  is_called_.store(true, std::memory_order_seq_cst);  // a reader that is there, or is just leaving, looks again
  if (!take_token()) return (void)bell_->ring_sleeper();
  bell_->set(Bell::Awake);
  constexpr int kPollsInARow = 64;  // then the loop's other events have their turn
  for (int i = 0; i < kPollsInARow && poll(); ++i) {
  }
  for (const auto& link : links_) link->rest();
  leave();
}

}  // namespace rt
