#include "rt/actors/train/random_state.h"

#include <gtest/gtest.h>

namespace rt::train {
namespace {

torch::Tensor draw() { return torch::rand({8}); }

TEST(RandomState, GivesEqualWeightsToEqualSeeds) {
  seed_weights(5);
  const auto first = draw();
  seed_weights(5);
  EXPECT_TRUE(draw().equal(first));
}

TEST(RandomState, GivesEachRankAStreamOfItsOwn) {
  seed_rank(5, 0);
  const auto zero = draw();
  seed_rank(5, 1);
  const auto one = draw();
  seed_rank(6, 0);
  EXPECT_FALSE(one.equal(zero));
  EXPECT_FALSE(draw().equal(zero));
}

TEST(RandomState, GoesOnFromWhereItWasKept) {
  seed_rank(5, 0);
  draw();
  const auto kept = random_state(torch::kCPU);
  const auto expected = draw();
  ASSERT_TRUE(set_random_state(torch::kCPU, kept));
  EXPECT_TRUE(draw().equal(expected));
}

TEST(RandomState, RefusesBytesThatAreNone) {
  const auto set = set_random_state(torch::kCPU, torch::zeros({3}, torch::kByte));
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().code, Code::Corrupt);
}

}  // namespace
}  // namespace rt::train
