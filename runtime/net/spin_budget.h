#pragma once
// SpinBudget: for how long a thread looks for an answer before it sleeps. Pure; the time is passed in.
//
// The rule was found by measurement. Who found its peer awake may spin, within a budget that doubles with each success
// up to 20 us and halves after two failures in a row, down to 1 us. Who has just woken its peer sleeps at once: the
// kernel likes to put the woken one on the waker's core, where it would wait for the spinning to end. But two that call
// each other back to back would so sleep for ever; where waits follow each other quickly, one in many is tried: it
// spins until the peer has had time to come up on another core, every second one after moving to another core itself,
// and from then on both find each other awake. How many that is doubles with each trial in vain. Where two looks at the
// clock inside the loop lie further apart than the loop takes, another process had the core: no spinning for five times
// as long.

#include <algorithm>
#include <chrono>

#include "rt/runtime/base/clock.h"

namespace rt {

class SpinBudget {
 public:
  using Nanoseconds = std::chrono::nanoseconds;
  static constexpr Nanoseconds kMost{20'000}, kLeast{1'000}, kInterrupted{30'000};
  static constexpr Nanoseconds kTrial{100'000};  // a halted core takes up to 50 us to wake
  static constexpr Nanoseconds kQuick{250'000};  // between the begins of two waits
  static constexpr int kLeastBetweenTrials = 8, kMostBetweenTrials = 1024;

  // For a wait that begins now. `rang`: who waits has just woken its peer.
  Nanoseconds begin(TimePoint now, bool rang) {
    const bool is_quick = now - last_begin_ < kQuick;
    last_begin_ = now;
    is_trial_ = false;
    if (now < off_until_) return Nanoseconds{0};
    if (!rang) return budget_;
    if (!is_quick || ++waits_since_trial_ < between_trials_) return Nanoseconds{0};
    waits_since_trial_ = 0;
    is_trial_ = true;
    return kTrial;
  }
  // Should it first leave its core to the peer?
  bool steps_aside() const { return is_trial_ && steps_aside_; }

  // What has become of it: the answer came while it was looked for, or it did not.
  void succeeded() {
    if (is_trial_) {
      budget_ = kMost;
      between_trials_ = kLeastBetweenTrials;
    }
    budget_ = std::min(budget_ * 2, kMost);
    failures_ = 0;
  }
  void failed() {
    if (is_trial_) {
      if (steps_aside_) between_trials_ = std::min(between_trials_ * 2, kMostBetweenTrials);
      steps_aside_ = !steps_aside_;
      return;
    }
    if (++failures_ < 2) return;
    failures_ = 0;
    budget_ = std::max(budget_ / 2, kLeast);
  }
  // Between two looks at the clock inside the loop.
  void looked(TimePoint before, TimePoint now) {
    if (now - before > kInterrupted) off_until_ = now + 5 * (now - before);
  }

 private:
  Nanoseconds budget_ = kMost;
  int failures_ = 0;
  int between_trials_ = kLeastBetweenTrials, waits_since_trial_ = 0;
  bool is_trial_ = false, steps_aside_ = false;
  TimePoint last_begin_{};
  TimePoint off_until_{};
};

}  // namespace rt
