#pragma once
// Blocking: who is told when a thread of this process waits for long. A task's process has one: its slot is lent to
// others meanwhile.
//
// Owner: the process; set once, before there is anything to wait for. Threads: any.

#include <atomic>
#include <chrono>

#include "rt/runtime/net/ring_poller.h"

namespace rt::detail {

class Blocking {
 public:
  virtual ~Blocking() = default;
  virtual void begins() = 0;
  virtual void ends() = 0;

  static std::atomic<Blocking*>& of_process() {
    static std::atomic<Blocking*> blocking{nullptr};
    return blocking;
  }
};

// `wait(until)`: waits, as RingPoller::wait does. What is over at once isn't told.
template <class Wait>
bool wait_and_tell(TimePoint until, Wait&& wait) {
  constexpr std::chrono::microseconds kAtOnce{500};
  Blocking* const blocking = Blocking::of_process().load(std::memory_order_acquire);
  if (!blocking) return wait(until);
  const TimePoint soon = SystemClock().now() + kAtOnce;
  if (const bool is_done = wait(std::min(soon, until)); is_done || until <= soon) return is_done;
  blocking->begins();
  const bool is_done = wait(until);
  blocking->ends();
  return is_done;
}

}  // namespace rt::detail
