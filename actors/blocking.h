#pragma once
// Blocking: who is told when a thread of this process waits for long. A task's process has one: its slot is lent to
// others meanwhile.
//
// Owner: the process; set once, before there is anything to wait for. Where actors take turns on one thread (inline/)
// it is the one of whose turn it is. Threads: any.

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

// `wait(until)`: waits, as RingPoller::wait does. What is over at once isn't told; where all take turns that is what
// waits for nobody's.
template <class Wait>
bool wait_and_tell(const Waiter& waiter, bool takes_turns, TimePoint until, Wait&& wait) {
  constexpr std::chrono::microseconds kAtOnce{500};
  Blocking* const blocking = Blocking::of_process().load(std::memory_order_acquire);
  if (!blocking || waiter.is_done()) return wait(until);
  const TimePoint now = SystemClock().now(), soon = takes_turns ? now : now + kAtOnce;
  if (until <= soon) return wait(until);
  if (!takes_turns && wait(soon)) return true;
  struct Told {
    Blocking& who;
    explicit Told(Blocking& blocking) : who(blocking) { who.begins(); }
    ~Told() { who.ends(); }  // also where the wait throws
  } const told(*blocking);
  return wait(until);
}

}  // namespace rt::detail
