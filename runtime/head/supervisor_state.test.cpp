// Right values are Erlang/OTP's rules for supervisors (its Design Principles, "Supervisor Behaviour"): restart
// strategies and the maximum restart intensity. The back-off is ours: 0, d, 2d, 4d up to its bound.
#include "rt/runtime/head/supervisor_state.h"

#include <gtest/gtest.h>

namespace rt {
namespace {

using namespace std::chrono_literals;
using Children = std::vector<SupervisorState::Child>;

constexpr RestartPolicy kOften{.most = 100, .delay = 0ms};

SupervisorState three(Strategy strategy, RestartPolicy policy = kOften) {
  SupervisorState supervisor(strategy, policy);
  for (const SupervisorState::Child child : {1, 2, 3}) supervisor.add(child, 0ms);
  return supervisor;
}

TEST(Supervisor, OneForOneRestartsTheDeadAlone) {
  SupervisorState supervisor = three(Strategy::OneForOne);
  EXPECT_EQ(supervisor.died(2, {}, 1ms).stop, Children{});
  EXPECT_EQ(supervisor.start_due(1ms), Children{2});
  EXPECT_EQ(supervisor.start_due(1ms), Children{});
}

TEST(Supervisor, OneForAllStopsTheOthersFromTheLastAndStartsAllFromTheFirst) {
  SupervisorState supervisor = three(Strategy::OneForAll);
  EXPECT_EQ(supervisor.died(2, {}, 1ms).stop, (Children{3, 1}));
  EXPECT_EQ(supervisor.start_due(1ms), Children{}) << "two still stop";
  supervisor.died(1, {}, 2ms);
  EXPECT_EQ(supervisor.next_start(), std::nullopt);
  supervisor.died(3, {}, 3ms);
  EXPECT_EQ(supervisor.start_due(3ms), (Children{1, 2, 3}));
}

TEST(Supervisor, RestForOneLeavesThoseBeforeAlone) {
  SupervisorState supervisor = three(Strategy::RestForOne);
  EXPECT_EQ(supervisor.died(2, {}, 1ms).stop, Children{3});
  supervisor.died(3, {}, 2ms);
  EXPECT_EQ(supervisor.start_due(2ms), (Children{2, 3}));
  EXPECT_EQ(supervisor.died(3, {}, 3ms).stop, Children{});
  EXPECT_EQ(supervisor.start_due(3ms), Children{3});
}

TEST(Supervisor, ASiblingThatItStopsItselfCountsAsNoFailure) {
  SupervisorState supervisor = three(Strategy::OneForAll, {.most = 1, .delay = 0ms});
  EXPECT_FALSE(supervisor.died(1, {}, 1ms).gave_up);
  EXPECT_FALSE(supervisor.died(2, {}, 1ms).gave_up);
  EXPECT_FALSE(supervisor.died(3, {}, 1ms).gave_up);
  EXPECT_EQ(supervisor.start_due(1ms), (Children{1, 2, 3}));
  EXPECT_TRUE(supervisor.died(1, {}, 1ms).gave_up);
}

TEST(Supervisor, OneThatHasNoProcessToStopIsLeftAlone) {
  SupervisorState supervisor = three(Strategy::OneForAll);
  supervisor.died(1, {}, 1ms);
  supervisor.keep(2);
  supervisor.died(3, {}, 1ms);
  EXPECT_EQ(supervisor.start_due(1ms), (Children{1, 3}));
}

TEST(Supervisor, OneThatEndedForGoodHoldsNobodyUp) {
  SupervisorState supervisor = three(Strategy::OneForAll);
  supervisor.died(1, {}, 1ms);
  supervisor.died(2, {}, 1ms);
  supervisor.forget(3);
  EXPECT_EQ(supervisor.start_due(1ms), (Children{1, 2}));
}

// MaxR restarts within MaxT are borne, one more is not; restarts older than MaxT are forgotten.
TEST(Supervisor, GivesUpAfterMoreRestartsThanItsIntensityWithinTheWindow) {
  SupervisorState supervisor(Strategy::OneForOne, {.most = 2, .window = 10s, .delay = 0ms});
  supervisor.add(1, 0s);
  const auto dies_at = [&](HeadTime now) {
    const bool gave_up = supervisor.died(1, {}, now).gave_up;
    supervisor.start_due(now);
    return gave_up;
  };
  EXPECT_FALSE(dies_at(0s));
  EXPECT_FALSE(dies_at(9s));
  EXPECT_FALSE(dies_at(10s)) << "the first is 10 s ago";
  EXPECT_TRUE(dies_at(18s)) << "the third within 9 s";
  EXPECT_TRUE(dies_at(100s)) << "it stays with that";
  EXPECT_EQ(supervisor.next_start(), std::nullopt);
}

TEST(Supervisor, WithoutAWindowCountsForLife) {
  SupervisorState supervisor(Strategy::OneForOne, {.most = 1});
  supervisor.add(1, 0s);
  EXPECT_FALSE(supervisor.died(1, {}, 0s).gave_up);
  supervisor.start_due(0s);
  EXPECT_TRUE(supervisor.died(1, {}, 100h).gave_up);
}

TEST(Supervisor, WaitsTwiceAsLongBeforeEachRestartOfACrashLoopUpToTheBound) {
  SupervisorState supervisor(Strategy::OneForOne, {.most = 100, .delay = 100ms, .max_delay = 500ms});
  supervisor.add(1, 0s);
  HeadTime now{0};
  std::vector<HeadTime> delays;
  for (int n = 0; n < 6; ++n) {
    supervisor.died(1, {}, now);
    delays.push_back(*supervisor.next_start() - now);
    EXPECT_EQ(supervisor.start_due(*supervisor.next_start() - 1ms), Children{});
    now = *supervisor.next_start();
    EXPECT_EQ(supervisor.start_due(now), Children{1});
  }
  EXPECT_EQ(delays, (std::vector<HeadTime>{0ms, 100ms, 200ms, 400ms, 500ms, 500ms}));
  supervisor.died(1, {}, now + 501ms);
  EXPECT_EQ(*supervisor.next_start(), now + 501ms) << "it had lived longer than the longest delay";
}

TEST(Supervisor, KeepsTheFirstFailureOfACrashLoop) {
  SupervisorState supervisor(Strategy::OneForOne, {.most = 5, .delay = 1ms, .max_delay = 1s});
  supervisor.add(1, 0s);
  const auto dies = [&](const std::string& cause, HeadTime now) {
    supervisor.died(1, {.cause = cause}, now);
    supervisor.start_due(now + 1s);
    return supervisor.first_failure().cause;
  };
  EXPECT_EQ(dies("no such file", 0s), "no such file");
  EXPECT_EQ(dies("a lock is held", 1s), "no such file");
  EXPECT_EQ(dies("another day's", 1h), "another day's") << "the loop had ended";
}

}  // namespace
}  // namespace rt
