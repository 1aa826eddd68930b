#include "rt/actors/task_board.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>

namespace rt::detail {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr TaskShape kOne{1, 0};

class TaskBoardTest : public ::testing::Test {
 protected:
  TaskBoard::Commands want(std::uint64_t number, std::uint64_t from_worker = 0, TaskShape shape = kOne) {
    return board.want({number, /*caller=*/100 + from_worker, shape, from_worker});
  }
  static std::uint64_t granted(const TaskBoard::Commands& commands, std::uint64_t want) {
    for (const auto& grant : commands.grants)
      if (grant.want == want) return grant.worker;
    return 0;
  }
  TaskBoard board;
};

TEST_F(TaskBoardTest, AsksForASlotAndStartsAWorkerInIt) {
  EXPECT_THAT(want(1).ask, ElementsAre(kOne));
  const auto placed = board.leased(7, kOne);
  ASSERT_EQ(placed.start.size(), 1u);
  EXPECT_EQ(placed.start[0].lease, 0u) << "the slot is the broker's: its worker may change";
  EXPECT_EQ(granted(placed, 1), placed.start[0].worker);
}

TEST_F(TaskBoardTest, UsesSlotAndWorkerAgain) {
  want(1);
  const auto worker = granted(board.leased(7, kOne), 1);
  EXPECT_THAT(want(2).grants, IsEmpty());
  const auto next = board.finished(worker);
  EXPECT_EQ(granted(next, 2), worker);
  EXPECT_THAT(next.start, IsEmpty());
}

TEST_F(TaskBoardTest, LendsTheSlotOfATaskThatWaitsToWhatItStarted) {
  want(1);
  const auto outer = granted(board.leased(7, kOne), 1);
  EXPECT_THAT(want(2, outer).grants, IsEmpty());
  const auto inner = granted(board.waits(outer), 2);
  EXPECT_NE(inner, 0u);
  EXPECT_NE(inner, outer);
}

TEST_F(TaskBoardTest, PutsWhatTasksStartedBeforeWhatWaitsForAFirstWorker) {
  want(1);
  const auto outer = granted(board.leased(7, kOne), 1);
  want(2);
  want(3, outer);
  EXPECT_NE(granted(board.waits(outer), 3), 0u);
}

TEST_F(TaskBoardTest, GivesTheNextSlotToWhoGoesOnWithoutOne) {
  want(1);
  const auto outer = granted(board.leased(7, kOne), 1);
  want(2, outer);
  const auto inner = granted(board.waits(outer), 2);
  EXPECT_THAT(board.goes_on(outer).grants, IsEmpty());
  want(3);
  EXPECT_THAT(board.finished(inner).grants, IsEmpty()) << "the slot is the outer one's again";
  EXPECT_NE(granted(board.finished(outer), 3), 0u);
}

TEST_F(TaskBoardTest, FreesTheSlotOfOneThatDied) {
  want(1);
  const auto worker = granted(board.leased(7, kOne), 1);
  want(2);
  const auto next = board.died(worker);
  ASSERT_EQ(next.start.size(), 1u);
  EXPECT_NE(granted(next, 2), worker);
}

TEST_F(TaskBoardTest, EndsTheWorkersOfACallerThatDiedAndForgetsWhatItWanted) {
  want(1);
  const auto worker = granted(board.leased(7, kOne), 1);
  want(2);
  EXPECT_THAT(board.caller_died(100).end, ElementsAre(worker));
  EXPECT_THAT(board.died(worker).grants, IsEmpty());
}

TEST_F(TaskBoardTest, GivesIdleSlotsAndWorkersBackAtTheSecondTick) {
  want(1);
  const auto worker = granted(board.leased(7, kOne), 1);
  board.finished(worker);
  EXPECT_TRUE(board.is_anything_idle());
  EXPECT_THAT(board.tick().release, IsEmpty());
  const auto second = board.tick();
  EXPECT_THAT(second.release, ElementsAre(7));
  EXPECT_THAT(second.end, ElementsAre(worker));
  EXPECT_FALSE(board.is_anything_idle());
}

TEST_F(TaskBoardTest, StartsTasksWithGpusInTheirLeaseAndUsesTheirProcessOnce) {
  constexpr TaskShape kGpu{1, 1};
  want(1, 0, kGpu);
  const auto placed = board.leased(9, kGpu);
  ASSERT_EQ(placed.start.size(), 1u);
  EXPECT_EQ(placed.start[0].lease, 9u);
  const auto over = board.finished(placed.start[0].worker);
  EXPECT_THAT(over.end, ElementsAre(placed.start[0].worker));
  EXPECT_THAT(over.release, ElementsAre(9));
}

TEST_F(TaskBoardTest, RefusesAllOfAShapeThatTheClusterNeverHas) {
  constexpr TaskShape kHuge{1000, 0};
  want(1, 0, kHuge);
  want(2);
  const auto refused = board.refused(kHuge, {Code::Invalid, "no"});
  ASSERT_EQ(refused.refusals.size(), 1u);
  EXPECT_EQ(refused.refusals[0].want, 1u);
}

TEST_F(TaskBoardTest, RefusesWhereAllProcessesThatThereMayBeWaitForEachOther) {
  std::uint64_t number = 1, worker = 0;
  TaskBoard::Commands last = want(number);
  last = board.leased(7, kOne);
  for (std::size_t depth = 1; depth <= TaskBoard::kMostWorkers; ++depth) {
    worker = granted(last, number);
    ASSERT_NE(worker, 0u) << depth;
    want(++number, worker);
    last = board.waits(worker);
  }
  ASSERT_EQ(last.refusals.size(), 1u);
  EXPECT_EQ(last.refusals[0].error.code, Code::Unavailable);
}

// Trees of tasks that wait for their parts come to an end on any number of slots, and no slot is ever used twice.
TEST(TaskBoardProperty, EveryTreeOfTasksEnds) {
  struct Node {
    std::uint64_t worker = 0;
    int children = 0, parent = -1;
    bool is_over = false;
  };
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::minstd_rand random(seed);
    TaskBoard board;
    std::vector<Node> nodes;
    const int slots = 1 + static_cast<int>(seed % 3);
    int leased = 0, depth_left = 60;
    std::function<void(const TaskBoard::Commands&)> carry_out = [&](const TaskBoard::Commands& commands) {
      for (const auto& grant : commands.grants) nodes[grant.want].worker = grant.worker;
      for (const auto& shape : commands.ask)
        if (leased < slots) carry_out(board.leased(static_cast<std::uint64_t>(++leased), shape));
    };
    const auto add = [&](int parent) {
      nodes.push_back({.parent = parent});
      const std::uint64_t from = parent < 0 ? 0 : nodes[static_cast<std::size_t>(parent)].worker;
      if (parent >= 0) ++nodes[static_cast<std::size_t>(parent)].children;
      carry_out(board.want({nodes.size() - 1, 1, kOne, from}));
    };
    for (int i = 0; i < 3; ++i) add(-1);
    for (int steps = 0; steps < 10'000; ++steps) {
      std::vector<int> running;
      for (std::size_t i = 0; i < nodes.size(); ++i)
        if (nodes[i].worker != 0 && !nodes[i].is_over && nodes[i].children == 0) running.push_back(static_cast<int>(i));
      if (running.empty()) break;
      const int at = running[random() % running.size()];
      if (depth_left > 0 && random() % 2 == 0) {
        const std::uint64_t worker = nodes[static_cast<std::size_t>(at)].worker;
        for (int i = 1 + static_cast<int>(random() % 2); i > 0; --i, --depth_left) add(at);
        carry_out(board.waits(worker));
        continue;
      }
      Node& node = nodes[static_cast<std::size_t>(at)];
      node.is_over = true;
      const int parent = node.parent;
      carry_out(board.finished(node.worker));
      if (parent >= 0 && --nodes[static_cast<std::size_t>(parent)].children == 0)
        carry_out(board.goes_on(nodes[static_cast<std::size_t>(parent)].worker));
    }
    for (const Node& node : nodes) EXPECT_TRUE(node.is_over) << "seed " << seed;
  }
}

}  // namespace
}  // namespace rt::detail
