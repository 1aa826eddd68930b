#include "rt/actors/collective/meeting.h"

#include <gtest/gtest.h>

#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include "rt/actors/collective/store.h"

namespace rt::train {
namespace {

using namespace std::chrono_literals;

class MeetingTest : public ::testing::Test {
 protected:
  RankContext rank(int rank) {
    RankContext context;
    context.trial_id = "0007";
    context.rank = rank;
    context.size = 2;
    context.store = values.get();
    return context;
  }
  std::unique_ptr<KeyValue> values = key_value_over(c10::make_intrusive<c10d::HashStore>());
};

TEST_F(MeetingTest, NamesTheRankThatNeverCame) {
  const auto met = meet(rank(0), "here", "127.0.0.1", 20ms);
  ASSERT_FALSE(met);
  EXPECT_EQ(met.error().code, Code::Deadline);
  EXPECT_NE(met.error().message.find("in vain for rank 1;"), std::string::npos) << met.error().message;
}

TEST_F(MeetingTest, RefusesLoopbackAcrossNodesOnEachSide) {
  ASSERT_FALSE(meet(rank(0), "here", "127.0.0.1", 1ms));  // writes its place before it waits
  const auto met = meet(rank(1), "there", "10.0.0.2", 1s);
  ASSERT_FALSE(met);
  EXPECT_EQ(met.error().code, Code::Invalid);
  EXPECT_EQ(meet(rank(0), "here", "127.0.0.1", 1s).error().code, Code::Invalid);
}

TEST_F(MeetingTest, LetsRanksOfOneNodeMeetOnLoopback) {
  ASSERT_FALSE(meet(rank(0), "here", "127.0.0.1", 1ms));
  EXPECT_TRUE(meet(rank(1), "here", "127.0.0.1", 1s));
}

TEST_F(MeetingTest, ForgetsAnEarlierGeneration) {
  ASSERT_FALSE(meet(rank(1), "here", "127.0.0.1", 1ms));
  auto reborn = rank(0);
  reborn.generation = 2;
  EXPECT_FALSE(meet(reborn, "here", "127.0.0.1", 1ms));
}

TEST(NetworkIdentity, IsTheSameForTwoLooksAndNotEmpty) {
  EXPECT_EQ(network_identity(), network_identity());
  EXPECT_GT(network_identity().size(), 36u);  // a boot id has 36 characters
}

}  // namespace
}  // namespace rt::train
