#pragma once
// SpinBudget: for how long a thread looks for an answer before it sleeps. Pure; the time is passed in.
//
// The rule was found by measurement: who has just woken its peer sleeps at once (the kernel puts the woken one on the
// waker's core, where it would wait for the spinning to end); who found it awake may spin, within a budget that doubles
// with each success up to 20 us and halves after two failures in a row, down to 1 us. Where two looks at the clock
// inside the loop lie further apart than the loop takes, another process had the core: no spinning for 20 ms.

#include <algorithm>
#include <chrono>

#include "rt/runtime/base/clock.h"

namespace rt {

class SpinBudget {
 public:
  using Nanoseconds = std::chrono::nanoseconds;
  static constexpr Nanoseconds kMost{20'000}, kLeast{1'000}, kInterrupted{30'000}, kPause{20'000'000};

  Nanoseconds at(TimePoint now) const { return now < off_until_ ? Nanoseconds{0} : budget_; }

  void succeeded() {
    budget_ = std::min(budget_ * 2, kMost);
    failures_ = 0;
  }
  void failed() {
    if (++failures_ < 2) return;
    failures_ = 0;
    budget_ = std::max(budget_ / 2, kLeast);
  }
  // Between two looks at the clock inside the loop.
  void looked(TimePoint before, TimePoint now) {
    if (now - before > kInterrupted) off_until_ = now + kPause;
  }

 private:
  Nanoseconds budget_ = kMost;
  int failures_ = 0;
  TimePoint off_until_{};
};

}  // namespace rt
