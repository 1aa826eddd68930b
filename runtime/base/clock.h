#pragma once
// Clock: the time as something that is passed in, so that a test moves it by hand.
//
// `now` is for what is measured and waited for: it never goes back and has no date. `wall` is for what a person or a
// file is told. Thread: SystemClock any; ManualClock its owner's.

#include <chrono>

namespace rt {

using TimePoint = std::chrono::steady_clock::time_point;
using WallTime = std::chrono::system_clock::time_point;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimePoint now() const = 0;
  virtual WallTime wall() const = 0;
};

class SystemClock final : public Clock {
 public:
  TimePoint now() const override { return std::chrono::steady_clock::now(); }
  WallTime wall() const override { return std::chrono::system_clock::now(); }
};

// Stands still until it is moved. Both times move together, from their epochs.
class ManualClock final : public Clock {
 public:
  TimePoint now() const override { return TimePoint(since_start_); }
  WallTime wall() const override { return WallTime(std::chrono::duration_cast<WallTime::duration>(since_start_)); }
  void advance(TimePoint::duration by) { since_start_ += by; }

 private:
  TimePoint::duration since_start_{};
};

}  // namespace rt
