#include "rt/actors/inline/scheduler.h"

#include <algorithm>
#include <exception>

#include "rt/actors/executor.h"
#include "rt/actors/inline/wait_graph.h"
#include "rt/actors/running_call.h"

namespace rt::detail {
namespace {

TimePoint now() { return SystemClock().now(); }

}  // namespace

Scheduler::Scheduler() : poller_(RingPoller::of(io_)), parties_{&driver_} { poller_.take_turns(*this); }

void Scheduler::check_thread() const {
  if (std::this_thread::get_id() != thread_)
    throw Exception(
        {Code::Invalid,
         "with RT_LOCAL=inline only the thread that connected may use rt: actors run on it, in a repeatable "
         "order; do without the other thread, or run without RT_LOCAL"});
}

// --- parties --------------------------------------------------------------------------------------------------------

void Scheduler::begin(Party& party) {
  party.fiber = std::make_unique<Fiber>([&party] { party.body(); });
  parties_.push_back(&party);
  ready_.push_back(&party);
}

void Scheduler::end(Party& party) {
  party.is_ending = true;
  if (party.waits_for && waiting_.erase(party.waits_for) > 0) ready_.push_back(&party);
}

void Scheduler::remove(Party& party) {
  std::erase(parties_, &party);
  std::erase(ready_, &party);
  std::erase_if(events_, [&](const Event& event) { return event.to == &party; });
}

Scheduler::InTheNameOf::InTheNameOf(Scheduler& scheduler, Party& party)
    : scheduler_(scheduler),
      before_(std::exchange(scheduler.current_, &party)),
      executor_(std::exchange(Executor::current(), party.executor)),
      call_(std::exchange(RunningCall::current(), party.call)) {
  set_worker_context(party.context);
}

Scheduler::InTheNameOf::~InTheNameOf() {
  scheduler_.current_ = before_;
  Executor::current() = executor_;
  RunningCall::current() = call_;
  set_worker_context(before_->context);
}

void Scheduler::post(Party& to, std::function<void()> event) {
  check_thread();
  events_.push_back({&to, std::move(event)});
}

void Scheduler::post(std::function<void()> run) { post(*current_, std::move(run)); }

void Scheduler::drain_timers() {
  while (io_.poll() > 0) {
  }
  io_.restart();
}

// --- waiting --------------------------------------------------------------------------------------------------------

bool Scheduler::wait(Waiter& waiter, TimePoint until) {
  check_thread();
  if (waiter.is_done()) return true;
  return running_ ? wait_in_fiber(waiter, until) : wait_on_own_stack(waiter, until);
}

void Scheduler::completed(Waiter& waiter) {
  const auto it = waiting_.find(&waiter);
  if (it == waiting_.end()) return;
  ready_.push_back(it->second);
  waiting_.erase(it);
}

// A look that doesn't wait gives one turn to all that was sent before it.
bool Scheduler::wait_in_fiber(Waiter& waiter, TimePoint until) {
  Party& self = *running_;
  if (!self.is_ending) {
    self.waits_for = &waiter;
    self.until = until;
    waiting_[&waiter] = &self;
    if (until <= now()) post(self, [this, &waiter] { completed(waiter); });
    self.fiber->pause();
    self.waits_for = nullptr;
    self.until = TimePoint::max();
    waiting_.erase(&waiter);
  }
  if (self.is_ending && std::uncaught_exceptions() == 0) throw WorkerEnds{};
  if (const auto why = std::exchange(self.gives_up, std::nullopt)) throw Exception(*why);
  return waiter.is_done();
}

bool Scheduler::wait_on_own_stack(Waiter& waiter, TimePoint until) {
  const bool only_looks = until <= now();
  while (!waiter.is_done()) {
    if (!step() && (only_looks || !pass_time(until))) break;
    if (until != TimePoint::max() && now() >= until) break;
  }
  return waiter.is_done();
}

bool Scheduler::step() {
  if (!ready_.empty()) {
    Party& next = *ready_.front();
    ready_.pop_front();
    take_turn(next);
    return true;
  }
  if (!events_.empty()) {
    const Event event = std::move(events_.front());
    events_.pop_front();
    const InTheNameOf party(*this, *event.to);
    Executor::current() = nullptr;
    RunningCall::current() = nullptr;
    event.run();
    return true;
  }
  io_.restart();
  return io_.poll_one() > 0;
}

void Scheduler::take_turn(Party& party) {
  {
    const InTheNameOf itself(*this, party);
    Party* const before = std::exchange(running_, &party);
    party.fiber->resume();
    running_ = before;
    party.executor = Executor::current();
    party.call = RunningCall::current();
  }
  if (!party.fiber->has_ended()) return;
  const auto on_ended = std::move(party.on_ended);
  on_ended();
}

// Nothing is ready. False: the wait on the thread's own stack is over, as its time is.
bool Scheduler::pass_time(TimePoint until) {
  if (WaitGraph(parties_).break_a_circle()) return true;
  Party* first = nullptr;
  for (Party* const party : parties_)
    if (party->waits_for && party->until < until) {
      first = party;
      until = party->until;
    }
  io_.restart();
  if ((until == TimePoint::max() ? io_.run_one() : io_.run_one_until(until)) > 0) return true;
  if (first) {
    waiting_.erase(first->waits_for);
    ready_.push_back(first);
    return true;
  }
  if (until != TimePoint::max()) return false;
  end_a_wait();
  return true;
}

// All wait, and no time that passes changes it.
void Scheduler::end_a_wait() {
  const WaitGraph::End end = WaitGraph(parties_).end_of(driver_);
  if (end.call) return end.waits->client->give_up(*end.call, end.error);
  if (end.waits == &driver_) throw Exception(end.error);
  end.waits->gives_up = end.error;
  waiting_.erase(end.waits->waits_for);
  ready_.push_back(end.waits);
}

}  // namespace rt::detail
