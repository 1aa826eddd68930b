// A user's test of an actor, without processes.
#include <gtest/gtest.h>
#include <rt/testing.h>

#include "counter.h"

TEST(Counter, AddsToWhereItStarted) {
  for (int start = 0; start < 3; ++start) {
    rt::testing::InlineCluster cluster;
    auto counter = cluster.spawn<Counter>({.name = "counter"}, start);
    EXPECT_EQ(counter.call<&Counter::add>(5).get(), start + 5);
  }
}
