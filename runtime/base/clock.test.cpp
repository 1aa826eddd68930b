#include "rt/runtime/base/clock.h"

#include <gtest/gtest.h>

namespace rt {
namespace {

using namespace std::chrono_literals;

TEST(ManualClock, StandsStillUntilItIsMoved) {
  ManualClock clock;
  const TimePoint start = clock.now();
  EXPECT_EQ(clock.now(), start);
  clock.advance(1500ms);
  EXPECT_EQ(clock.now() - start, 1500ms);
  EXPECT_EQ(clock.wall(), WallTime(1500ms));
}

TEST(SystemClock, NeverGoesBack) {
  const SystemClock clock;
  const TimePoint earlier = clock.now();
  EXPECT_GE(clock.now(), earlier);
}

}  // namespace
}  // namespace rt
