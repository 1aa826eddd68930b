#pragma once
// SupervisorState: which of its children are restarted after a death, when, and when it gives up.
//
// Owner: the head, one for each `rt::Supervisor` and one for each actor with restarts of its own (a group of one).
// Pure: time comes in as a value; the same events give the same verdicts, from the journal too. Intensity, as in
// Erlang: a death that would be restart number `most` + 1 within `window` gives up. Back-off: a crash loop's first
// restart comes at once, the next after `delay`, and each one waits twice as long as the last, up to `max_delay`; an
// incarnation that lived longer than `max_delay` has ended the loop. Always: nothing is started while a child still
// stops, and children start in the order in which they were added.

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "rt/runtime/head/strategy.h"

namespace rt {

using HeadTime = std::chrono::milliseconds;  // since the head's term began; never goes back

struct RestartPolicy {
  std::uint32_t most = 0;
  HeadTime window{0};  // 0: for life
  HeadTime delay{100}, max_delay{30'000};
};

class SupervisorState {
 public:
  using Child = std::uint64_t;
  struct Failure {
    std::string cause, last_lines;
  };
  struct Verdict {
    bool gave_up = false;
    std::vector<Child> stop;  // siblings to be stopped, in this order; each one's end is told by `died` too
  };

  SupervisorState(Strategy strategy, RestartPolicy policy) : strategy_(strategy), policy_(policy) {}

  void add(Child child, HeadTime now);  // it runs
  void forget(Child child);             // it has ended for good, and nobody is to be restarted for it
  void keep(Child child);               // one that was to be stopped has no process yet: it is left alone
  Verdict died(Child child, const Failure& how, HeadTime now);

  std::vector<Child> start_due(HeadTime now);  // to be started, in this order; they run from now on
  std::optional<HeadTime> next_start() const;  // when to ask for them; nothing: none waits, or one still stops

  bool empty() const { return children_.empty(); }
  bool has_given_up() const { return gave_up_; }
  std::vector<Child> children() const;
  const RestartPolicy& policy() const { return policy_; }
  std::uint32_t restarts_in_loop() const { return in_loop_; }
  const Failure& first_failure() const { return first_; }  // of the crash loop

 private:
  enum class State { Runs, Stops, Waits };
  struct Entry {
    Child child = 0;
    State state = State::Runs;
    HeadTime since{0};  // it runs
    HeadTime at{0};     // it is to be started
  };

  bool may_restart(HeadTime now);
  HeadTime delay() const;
  bool is_affected(const Entry& sibling, const Entry* dead) const;
  Entry* find(Child child);

  Strategy strategy_;
  RestartPolicy policy_;
  std::vector<Entry> children_;    // in the order of their first start
  std::deque<HeadTime> restarts_;  // within the window; at most policy_.most
  std::uint32_t in_loop_ = 0;
  Failure first_;
  bool gave_up_ = false;
};

}  // namespace rt
