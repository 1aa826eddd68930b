// Streams, and an actor's threads.
#include "rt/actors/serving_fixture.h"

namespace rt::serving_test {
namespace {

using testing::HasSubstr;

TEST_F(ServingTest, AStreamYieldsAllOfItsItemsInOrder) {
  int expected = 0;
  for (const int item : stream<&Thing::counts>(1000)) ASSERT_EQ(item, expected++);
  EXPECT_EQ(expected, 1000);
  auto empty = stream<&Thing::counts>(0);
  EXPECT_EQ(empty.next().get(), std::nullopt);
  EXPECT_EQ(empty.next().get(), std::nullopt) << "again";
}

TEST_F(ServingTest, AStreamRunsNoFurtherAheadThanItsWindow) {
  auto numbers = stream<&Thing::counts>(1000);
  EXPECT_EQ(call<&Thing::how_many>().get(), kStreamWindow - 1) << "it waits, and other methods run";
  for (std::uint32_t i = 0; i < kStreamWindow / 2; ++i) EXPECT_EQ(numbers.next().get(), i);
  EXPECT_EQ(call<&Thing::how_many>().get(), kStreamWindow + kStreamWindow / 2 - 1);
}

TEST_F(ServingTest, AReaderThatGoesEndsTheStreamWhereItWaits) {
  {
    auto numbers = stream<&Thing::counts>(1000);
    EXPECT_EQ(numbers.next().get(), 0);
  }
  Thing::gate.wait();  // its frame has gone
  EXPECT_EQ(call<&Thing::add>(1).get(), 1);
}

TEST_F(ServingTest, AReadersDeathEndsItsStreams) {
  {
    detail::IoThread other;
    detail::Peers dies{other.io(), nullptr, [](ActorId) {}};
    dies.on_started(kActor, 1, folder.path() / "actor");
    Encoder to;
    encode(to, std::tuple(1000));
    const auto items = detail::StreamInlet::make_items();
    detail::StreamInlet reader(dies.call(kActor, detail::Method<&Thing::counts>::name, to.bytes(), {.sink = items}),
                               items);
    reader.next()->wait();
    dies.fail_all({Code::Unavailable, "over"});
    other.stop();
  }
  Thing::gate.wait();  // its frame has gone
  EXPECT_LE(Thing::yielded.load(), static_cast<int>(kStreamWindow)) << "long before its end";
  EXPECT_EQ(call<&Thing::add>(1).get(), 1);
}

TEST_F(ServingTest, WhatAStreamThrowsComesAfterItsItems) {
  auto words = stream<&Thing::words_then_throws>();
  EXPECT_EQ(words.next().get(), "one");
  const auto second = words.next();
  EXPECT_FALSE(second.ready());
  Thing::inner_state->complete(encoded(2));
  EXPECT_EQ(second.get(), "2");
  EXPECT_THAT(words.next().result().error().message, HasSubstr("no third (rt::serving_test::Custom, thrown by"));
  EXPECT_THROW(words.next().get(), CallFailed) << "again";
}

TEST_F(ServingTest, SeveralItemsAreAskedForAtOnce) {
  auto numbers = stream<&Thing::counts>(3);
  std::vector<Future<std::optional<int>>> items;
  for (int i = 0; i < 5; ++i) items.push_back(numbers.next());
  EXPECT_TRUE(wait_all(items));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(items[std::size_t(i)].get(), i < 3 ? std::optional(i) : std::nullopt);
}

TEST_F(ServingTest, AGroupsThreadsRunItsMethodsBesideTheOthers) {
  const auto one = call<&Thing::wait_in_group>(), two = call<&Thing::wait_in_group>();
  EXPECT_EQ(call<&Thing::thread>().get(), call<&Thing::thread_of_coroutine>().get());
  const auto three = call<&Thing::thread_in_group>();
  EXPECT_EQ(call<&Thing::add>(5).get(), 5) << "methods of no group have their turn";
  EXPECT_FALSE(three.ready()) << "the group's two threads are busy";
  Thing::gate.open();
  EXPECT_TRUE(wait_all(std::vector{one, two}));
  EXPECT_NE(three.get(), call<&Thing::thread>().get());
}

TEST_F(ServingTest, CallsInAGroupAreCancelledBeforeTheyBeginAndWhileTheyRun) {
  const auto one = call<&Thing::wait_in_group>(), two = call<&Thing::wait_in_group>();
  const auto three = call<&Thing::wait_in_group>();
  call<&Thing::add>(1).get();  // they have been handed on
  three.cancel();
  EXPECT_EQ(three.result().error().code, Code::Cancelled);
  Thing::gate.open();
  EXPECT_TRUE(wait_all(std::vector{one, two}));
}

// Three threads for the methods of no group.
class ThreadedServingTest : public ServingTest {
  std::uint32_t threads() override { return 3; }
};

TEST_F(ThreadedServingTest, RunsMethodsBesideEachOther) {
  const auto waits = call<&Thing::wait_at_gate>();
  const auto cancelled = call<&Thing::wait_for_cancel>();
  EXPECT_EQ(call<&Thing::add>(5).get(), 5);
  EXPECT_NE(call<&Thing::thread>().get(), call<&Thing::thread_of_coroutine>().get());
  Thing::begun.wait();
  cancelled.cancel();
  EXPECT_TRUE(cancelled.get());
  Thing::gate.open();
  EXPECT_EQ(waits.get(), 5);
  EXPECT_THAT(call<&Thing::fail>().result().error().message, HasSubstr("it can't"));
}

}  // namespace
}  // namespace rt::serving_test
