#include "rt/actors/inline/scheduler.h"

#include <algorithm>
#include <exception>

#include "rt/actors/blocking.h"
#include "rt/actors/executor.h"
#include "rt/actors/inline/wait_graph.h"
#include "rt/actors/running_call.h"

namespace rt::detail {
namespace {

TimePoint now() { return SystemClock().now(); }

}  // namespace

Scheduler::Scheduler() : poller_(RingPoller::of(io_)), parties_{&driver_} {
  driver_.strands.push_back(&driver_strand_);
  poller_.take_turns(*this);
}

void Scheduler::check_thread() const {
  if (std::this_thread::get_id() != thread_)
    throw Exception(
        {Code::Invalid,
         "with RT_LOCAL=inline only the thread that connected may use rt: actors run on it, in a repeatable "
         "order; do without the other thread, or run without RT_LOCAL"});
}

// --- who takes part -------------------------------------------------------------------------------------------------

void Scheduler::add(Party& party) { parties_.push_back(&party); }

void Scheduler::begin(Strand& strand) {
  strand.fiber = std::make_unique<Fiber>([&strand] { strand.body(); });
  strand.party.strands.push_back(&strand);
  ready_.push_back(&strand);
}

void Scheduler::make_ready(Strand& strand) {
  if (strand.waits_for && waiting_.erase(strand.waits_for) > 0) ready_.push_back(&strand);
}

void Scheduler::end(Party& party) {
  party.is_ending = true;
  for (Strand* const strand : party.strands) end(*strand);
}

void Scheduler::end(Strand& strand) {
  if (strand.is_closing) return;
  strand.is_ending = true;
  make_ready(strand);
}

void Scheduler::remove(Strand& strand) {
  std::erase(strand.party.strands, &strand);
  std::erase(ready_, &strand);
}

void Scheduler::remove(Party& party) {
  std::erase(parties_, &party);
  std::erase_if(events_, [&](const Event& event) { return event.to == &party; });
}

Scheduler::InTheNameOf::InTheNameOf(Scheduler& scheduler, Party& party, Executor* executor, RunningCall* call,
                                    Blocking* blocking)
    : scheduler_(scheduler),
      before_(std::exchange(scheduler.current_, &party)),
      executor_(std::exchange(Executor::current(), executor)),
      call_(std::exchange(RunningCall::current(), call)),
      blocking_(Blocking::of_process().exchange(blocking)) {
  set_worker_context(party.context);
}

Scheduler::InTheNameOf::~InTheNameOf() {
  scheduler_.current_ = before_;
  Executor::current() = executor_;
  RunningCall::current() = call_;
  Blocking::of_process() = blocking_;
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
  if (const auto it = waiting_.find(&waiter); it != waiting_.end()) make_ready(*it->second);
}

// A look that doesn't wait gives one turn to all that was sent before it.
bool Scheduler::wait_in_fiber(Waiter& waiter, TimePoint until) {
  Strand& self = *running_;
  if (!self.is_ending) {
    self.waits_for = &waiter;
    self.until = until;
    waiting_[&waiter] = &self;
    if (until <= now())
      post(self.party, [this, &self, &waiter] {
        if (self.waits_for == &waiter) make_ready(self);
      });
    self.fiber->pause();
    waiting_.erase(&waiter);
    self.waits_for = nullptr;
    self.until = TimePoint::max();
  }
  if (self.is_ending && std::uncaught_exceptions() == 0) throw WorkerEnds{};
  if (const auto why = std::exchange(self.gives_up, std::nullopt)) throw Exception(*why);
  return waiter.is_done();
}

bool Scheduler::wait_on_own_stack(Waiter& waiter, TimePoint until) {
  struct Before {  // again afterwards: what is sent may itself wait
    Strand& strand;
    Waiter* const waits_for = strand.waits_for;
    ~Before() { strand.waits_for = waits_for; }
  } const before{driver_strand_};
  driver_strand_.waits_for = &waiter;
  const bool only_looks = until <= now();
  while (!waiter.is_done()) {
    if (!step() && (only_looks || !pass_time(until))) break;
    if (until != TimePoint::max() && now() >= until) break;
  }
  return waiter.is_done();
}

bool Scheduler::step() {
  if (!ready_.empty()) {
    Strand& next = *ready_.front();
    ready_.pop_front();
    take_turn(next);
    return true;
  }
  if (!events_.empty()) {
    const Event event = std::move(events_.front());
    events_.pop_front();
    const InTheNameOf party(*this, *event.to);
    event.run();
    return true;
  }
  io_.restart();
  return io_.poll_one() > 0;
}

void Scheduler::take_turn(Strand& strand) {
  {
    const InTheNameOf itself(*this, strand.party, strand.executor, strand.call, strand.blocking);
    Strand* const before = std::exchange(running_, &strand);
    strand.fiber->resume();
    running_ = before;
    strand.executor = Executor::current();
    strand.call = RunningCall::current();
    strand.blocking = Blocking::of_process();
  }
  if (!strand.fiber->has_ended()) return;
  remove(strand);
  const auto on_ended = std::move(strand.on_ended);
  on_ended();
}

// Nothing is ready. False: the wait on the thread's own stack is over, as its time is.
bool Scheduler::pass_time(TimePoint until) {
  if (WaitGraph(parties_).break_a_circle()) return true;
  Strand* first = nullptr;
  for (Party* const party : parties_)
    for (Strand* const strand : party->strands)
      if (strand->waits_for && strand->until < until) {
        first = strand;
        until = strand->until;
      }
  io_.restart();
  if ((until == TimePoint::max() ? io_.run_one() : io_.run_one_until(until)) > 0) return true;
  constexpr std::chrono::milliseconds kShort{5};  // a wait that short is begun again and again
  if (until != TimePoint::max() && until - now() < kShort) std::this_thread::sleep_until(until);
  if (first) {
    make_ready(*first);
    return true;
  }
  if (until != TimePoint::max()) return false;
  end_a_wait();
  return true;
}

// All wait, and no time that passes changes it.
void Scheduler::end_a_wait() {
  const WaitGraph::End end = WaitGraph(parties_).end_of(driver_);
  if (end.call) return end.party->client->give_up(*end.call, end.error);
  if (!end.strand) throw Exception(end.error);
  end.strand->gives_up = end.error;
  make_ready(*end.strand);
}

}  // namespace rt::detail
