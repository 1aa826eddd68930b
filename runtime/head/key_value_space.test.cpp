#include "rt/runtime/head/key_value_space.h"

#include <gtest/gtest.h>

namespace rt {
namespace {

constexpr KeyValueSpace::Waiter kWaiter{1, 2, 3};

TEST(KeyValueSpace, AnswersAWaiterWhenTheLastOfItsKeysIsSet) {
  KeyValueSpace space;
  EXPECT_TRUE(space.get(kWaiter, {"a", "b"}).empty());
  EXPECT_TRUE(space.set("b", "2")->empty());
  const auto answers = *space.set("a", "1");
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].to, kWaiter);
  EXPECT_EQ(answers[0].value, "1");
  EXPECT_EQ(space.waiting(), 0u);
}

TEST(KeyValueSpace, AddsFromZeroAndRefusesWhatIsNoNumber) {
  KeyValueSpace space;
  std::vector<KeyValueSpace::Answer> answers;
  EXPECT_EQ(*space.add("n", 5, answers), 5);
  EXPECT_EQ(*space.add("n", -7, answers), -2);
  ASSERT_TRUE(space.set("n", "x"));
  EXPECT_EQ(space.add("n", 1, answers).error().code, Code::Invalid);
}

// The semantics of c10d's Store::compareSet (TCPStore): an absent key is set only for an empty `expected`.
TEST(KeyValueSpace, ComparesBeforeItSets) {
  KeyValueSpace space;
  std::vector<KeyValueSpace::Answer> answers;
  EXPECT_EQ(*space.compare_set("k", "old", "new", answers), "old");
  EXPECT_FALSE(space.check({"k"}));
  EXPECT_EQ(*space.compare_set("k", "", "new", answers), "new");
  EXPECT_EQ(*space.compare_set("k", "other", "newer", answers), "new");
  EXPECT_EQ(*space.compare_set("k", "new", "newer", answers), "newer");
}

TEST(KeyValueSpace, RefusesMoreThanItsBound) {
  KeyValueSpace space(10);
  ASSERT_TRUE(space.set("k", "12345"));
  EXPECT_EQ(space.set("l", "123456").error().code, Code::Unavailable);
  ASSERT_TRUE(space.remove("k"));
  EXPECT_TRUE(space.set("l", "123456"));
}

TEST(KeyValueSpace, ForgetsAClientsWaitsAndAGangsKeys) {
  KeyValueSpace space;
  space.get(kWaiter, {"trial/1/a"});
  space.forget_client(1, 2);
  EXPECT_TRUE(space.set("trial/1/a", "x")->empty());
  ASSERT_TRUE(space.set("trial/10/a", "y"));
  space.remove_prefix("trial/1/");
  EXPECT_FALSE(space.check({"trial/1/a"}));
  EXPECT_TRUE(space.check({"trial/10/a"}));
}

}  // namespace
}  // namespace rt
