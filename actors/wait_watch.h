#pragma once
// WaitWatch: what one thread of an actor waits for, so that actors which wait for each other learn of it.
//
// Who waits for long sends a probe along the calls that it waits for; whoever can't answer such a call because it waits
// itself sends it on. A probe that comes back to the wait it began from has gone round a circle: that wait fails, with
// the names along the way. Of all waits in a circle only the one of the greatest actor's id fails: others don't send
// its probes on. Source: Chandy, Misra and Haas, "Distributed Deadlock Detection", ACM TOCS 1(2), 1983, the resource
// model. A wait for some of several calls is in no circle: another may end it. Nor are waits of an actor that has
// threads.
//
// Owner: the thread's CallSlot. Threads: `wait` the thread's own, `send_on` whichever reads the rings.

#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "rt/actors/future.h"
#include "rt/runtime/base/clock.h"

namespace rt {

class RingPoller;
class Waiter;

namespace detail {

struct Probe {
  struct Hop {
    std::uint64_t actor = 0;  // whose thread waits; 0: one of its coroutines does
    std::string words;        // its name
    std::string method;       // that it waits for; of the next hop's actor
  };
  std::uint64_t wait = 0;  // a number of the first hop's actor
  std::uint32_t call = 0;  // of the calls that it waits for
  std::vector<Hop> hops;
};

class WaitWatch {
 public:
  static WaitWatch* current();  // of this thread; null: it runs no actor's methods
  // As long as it lives, this thread's.
  class Scope {
   public:
    explicit Scope(WaitWatch& watch);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
  };

  // Before the first wait.
  void belongs_to(std::uint64_t actor, std::string words) {
    actor_ = actor;
    words_ = std::move(words);
  }

  // As the poller's. `calls`: all of them have to end first.
  bool wait(RingPoller& poller, Waiter& waiter, TimePoint until, std::span<CallState* const> calls);

  // A probe has come along a call that this thread would have to answer. Nothing where it waits for none itself.
  void send_on(const Probe& probe);

 private:
  void probe();
  static std::string in_words(const Probe& probe);

  std::uint64_t actor_ = 0;
  std::string words_;
  std::mutex mutex_;  // guards the two below
  std::uint64_t number_ = 0;
  std::span<CallState* const> calls_;
};

}  // namespace detail
}  // namespace rt
