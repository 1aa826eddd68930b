#include "rt/actors/task.h"

#include <tbb/spin_mutex.h>
#include <mutex>

#include "rt/actors/blocking.h"
#include "rt/runtime/net/ring_poller.h"

namespace rt::detail {
namespace {

// The thread of a driver that waits for a task: it runs the task's coroutines, and reads the rings in between.
class TaskThread final : public Executor {
 public:
  explicit TaskThread(RingPoller& poller) : poller_(poller) { arrived_.is_for_calls = true; }

  void post(Job& job) override {
    const std::lock_guard lock(mutex_);
    ready_.push(job);
    if (std::exchange(is_awaited_, false)) poller_.complete(arrived_);
  }

  void run_until(const bool& is_done) {
    while (!is_done) {
      if (Job* const job = next())
        job->run(*job);
      else
        wait_and_tell(arrived_, poller_.takes_turns(), TimePoint::max(),
                      [&](TimePoint to) { return poller_.wait(arrived_, to); });
    }
  }

 private:
  Job* next() {
    const std::lock_guard lock(mutex_);
    if (Job* const job = ready_.pop()) return job;
    if (arrived_.is_done() || !is_awaited_) arrived_.reset();
    is_awaited_ = true;
    return nullptr;
  }

  RingPoller& poller_;
  tbb::spin_mutex mutex_;  // guards all below
  Queue ready_;
  bool is_awaited_ = false;
  Waiter arrived_;
};

}  // namespace

CallAwaiter::~CallAwaiter() {
  if (!executor_) return;
  (void)state_->forget(*this);
  if (call_ && call_->waits_for == this) call_->waits_for = nullptr;
}

bool CallAwaiter::await_suspend(std::coroutine_handle<> handle) {
  handle_ = handle;
  executor_ = Executor::current();
  call_ = RunningCall::current();
  if (!executor_)
    throw Exception({Code::Invalid,
                     "a coroutine that isn't run by rt can't wait for a call: start it by rt::wait, or "
                     "as an actor's method"});
  if (call_ && call_->is_cancelled()) {
    is_cancelled_ = true;
    return false;
  }
  fire = [](CallState::Listener& self) {
    auto& awaiter = static_cast<CallAwaiter&>(self);
    awaiter.executor_->post(awaiter);
  };
  run = [](Executor::Job& self) { static_cast<CallAwaiter&>(self).resume(); };
  if (call_) call_->waits_for = this;
  if (state_->listen(*this)) return true;
  if (call_) call_->waits_for = nullptr;
  return false;
}

void CallAwaiter::resume() {
  if (call_) call_->waits_for = nullptr;
  RunningCall* const before = std::exchange(RunningCall::current(), call_);
  handle_.resume();  // this may be gone afterwards
  RunningCall::current() = before;
}

void CallAwaiter::cancel() {
  if (!state_->forget(*this)) return;  // it is about to be resumed
  is_cancelled_ = true;
  state_->cancel();
  resume();
}

void CallAwaiter::probe(const Probe& probe) { state_->probe(probe); }

void CallAwaiter::check() const {
  if (is_cancelled_) throw Exception({Code::Cancelled, "the call was cancelled while it waited for another"});
}

void run_until(const bool& is_done, RingPoller& poller, void (*start)(void*), void* argument) {
  TaskThread thread(poller);
  struct Before {  // again, also where a wait throws
    Executor* const executor;
    RunningCall* const call;
    ~Before() {
      Executor::current() = executor;
      RunningCall::current() = call;
    }
  } const before{std::exchange(Executor::current(), &thread), std::exchange(RunningCall::current(), nullptr)};
  start(argument);
  thread.run_until(is_done);
}

}  // namespace rt::detail
