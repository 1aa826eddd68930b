#include "rt/actors/collective/group.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>

#include "rt/actors/collective/gang.testing.h"

namespace rt::train {
namespace {

using namespace std::chrono_literals;
using testing::run_processes;
using testing::run_threads;

std::string fresh_file(const char* name) {
  const auto path = std::filesystem::temp_directory_path() / (std::string(name) + std::to_string(::getpid()));
  std::filesystem::remove(path);
  return path;
}

TEST(Group, ReducesBroadcastsAndGathersAmongItsRanks) {
  run_threads(3, [](RankContext& context) {
    auto group = form_group(context).get();
    auto tensor = torch::full({2}, static_cast<float>(context.rank + 1));
    ASSERT_TRUE(group->all_reduce(tensor, Reduction::Sum).wait(10s));
    EXPECT_TRUE(tensor.equal(torch::full({2}, 6.0F)));

    auto largest = torch::full({1}, static_cast<float>(context.rank));
    ASSERT_TRUE(group->all_reduce(largest, Reduction::Max).wait(10s));
    EXPECT_EQ(largest.item<float>(), 2.0F);

    auto from_one = torch::full({2}, static_cast<float>(context.rank));
    ASSERT_TRUE(group->broadcast(from_one, 1).wait(10s));
    EXPECT_TRUE(from_one.equal(torch::ones({2})));

    auto all = torch::zeros({3, 1});
    ASSERT_TRUE(group->all_gather(torch::full({1}, static_cast<float>(context.rank)), all).wait(10s));
    EXPECT_TRUE(all.flatten().equal(torch::arange(3, torch::kFloat)));
    EXPECT_TRUE(group->barrier().wait(10s));
  });
}

TEST(Group, OfOneNeedsNoStoreAndChangesNothing) {
  RankContext context;
  auto group = form_group(context).get();
  auto tensor = torch::full({1}, 3.0F);
  EXPECT_TRUE(group->all_reduce(tensor, Reduction::Sum).wait(1s));
  EXPECT_EQ(tensor.item<float>(), 3.0F);
}

TEST(Group, SaysWhichRankDidNotCome) {
  const auto values = key_value_over(c10::make_intrusive<c10d::HashStore>());
  const auto group = form_group(testing::context_of(0, 2, *values), {.meet_deadline = 20ms});
  ASSERT_FALSE(group);
  EXPECT_EQ(group.error().code, Code::Deadline);
  EXPECT_NE(group.error().message.find("rank 1"), std::string::npos) << group.error().message;
}

TEST(Group, RefusesARankOutsideOfItsSize) {
  const auto values = key_value_over(c10::make_intrusive<c10d::HashStore>());
  EXPECT_EQ(form_group(testing::context_of(2, 2, *values)).error().code, Code::Invalid);
}

TEST(Group, FailsEachCallAfterAnAbortWithItsReason) {
  run_threads(2, [](RankContext& context) {
    auto group = form_group(context).get();
    group->abort("rank 1 was taken away");
    const auto done = group->barrier().wait(1s);
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().message.find("rank 1 was taken away"), std::string::npos) << done.error().message;
  });
}

// The survivor's operation has ten seconds; it must end because the peer's sockets closed, as Unavailable, not by them.
TEST(Group, EndsAnOperationWhosePeerWasKilled) {
  const auto statuses = run_processes(2, fresh_file("rt-killed-peer"), [](RankContext& context) {
    auto group = form_group(context).get();
    if (context.rank == 1) ::kill(::getpid(), SIGKILL);
    const auto done = group->all_reduce(torch::ones({1 << 20}), Reduction::Sum).wait(10s);
    return !done && done.error().code == Code::Unavailable ? 0 : 1;
  });
  EXPECT_EQ(statuses[0], 0);
  EXPECT_TRUE(WIFSIGNALED(statuses[1]));
}

TEST(Group, EndsAnOperationAtItsDeadlineWhenAPeerHangs) {
  const auto statuses = run_processes(2, fresh_file("rt-hung-peer"), [](RankContext& context) {
    auto group = form_group(context, {.operation_deadline = 200ms}).get();
    if (context.rank == 1) {
      context.store->wait({"survivor has seen it"}, 20s).get();
      return 0;
    }
    const auto done = group->all_reduce(torch::ones({1}), Reduction::Sum).wait(10s);
    context.store->set("survivor has seen it", "").get();
    return !done && done.error().code == Code::Deadline ? 0 : 1;
  });
  EXPECT_EQ(statuses, (std::vector<int>{0, 0}));
}

TEST(Group, OnGpusSaysThatThereIsNone) {
#ifndef RT_HAVE_NCCL
  GTEST_SKIP() << "built without NCCL";
#else
  if (torch::cuda::is_available()) GTEST_SKIP() << "this machine has a GPU";
  run_threads(2, [](RankContext& context) {
    context.device = DeviceKind::Gpu;
    const auto group = form_group(context);
    ASSERT_FALSE(group);
    EXPECT_NE(group.error().message.find("no GPUs found"), std::string::npos) << group.error().message;
  });
#endif
}

}  // namespace
}  // namespace rt::train
