#pragma once
// CallSlot: the call that runs on one thread, where a cancellation from another thread finds it.
//
// Owner: who runs methods there. Threads: `begin` and `end` the thread's own, `cancel` any.

#include <atomic>
#include <cstdint>
#include <mutex>

#include "rt/actors/running_call.h"
#include "rt/actors/wait_watch.h"

namespace rt {

class Transport;

namespace detail {

class CallSlot {
 public:
  // From here to `end` it is this thread's call (rt::this_call).
  void begin(const Transport* caller, std::uint64_t sequence, std::uint64_t method) {
    caller_.store(caller, std::memory_order_relaxed);
    sequence_.store(sequence, std::memory_order_release);
    RunningCall::current() = &call_;
    call_.begin(method);
  }
  void end() {
    RunningCall::current() = nullptr;
    sequence_.store(0, std::memory_order_seq_cst);
    if (is_cancelling_.load(std::memory_order_seq_cst)) const std::lock_guard wait_for_it(mutex_);
    call_.reset();
  }

  const RunningCall& call() const { return call_; }
  WaitWatch& waits() { return waits_; }  // of its thread
  bool runs(const Transport* caller, std::uint64_t sequence) const {
    return sequence_.load(std::memory_order_acquire) == sequence && caller_.load() == caller;
  }

  // False: that call doesn't run here.
  bool cancel(const Transport* caller, std::uint64_t sequence) {
    is_cancelling_.store(true, std::memory_order_seq_cst);
    const std::lock_guard lock(mutex_);
    const bool runs = sequence_.load(std::memory_order_seq_cst) == sequence && caller_.load() == caller;
    if (runs) call_.cancel();
    is_cancelling_.store(false, std::memory_order_seq_cst);
    return runs;
  }

 private:
  RunningCall call_;
  WaitWatch waits_;
  std::atomic<const Transport*> caller_{nullptr};
  std::atomic<std::uint64_t> sequence_{0};
  std::atomic<bool> is_cancelling_{false};
  std::mutex mutex_;  // held while it cancels
};

}  // namespace detail
}  // namespace rt
