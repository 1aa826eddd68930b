#include "rt/actors/serving_fixture.h"

namespace rt::serving_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(ServingTest, RunsCallsInTheirOrder) {
  std::vector<Future<int>> sums;
  for (int i = 1; i <= 100; ++i) sums.push_back(call<&Thing::add>(1));
  for (int i = 1; i <= 100; ++i) EXPECT_EQ(sums[static_cast<std::size_t>(i - 1)].get(), i);
}

TEST_F(ServingTest, TellsWhatWasThrownAndWhere) {
  const auto future = call<&Thing::fail>();
  try {
    future.get();
    FAIL();
  } catch (const CallFailed& e) {
    EXPECT_EQ(e.code(), Code::Failed);
    EXPECT_EQ(e.thrown(), (Thrown{"rt::serving_test::Custom", "it can't", "thing", 3, 4711}));
    EXPECT_STREQ(e.what(), "it can't (rt::serving_test::Custom, thrown by actor thing on node 3, pid 4711)");
  }
  EXPECT_EQ(future.result().error(),
            (Error{Code::Failed, "it can't (rt::serving_test::Custom, thrown by actor thing on node 3, pid 4711)"}));
  EXPECT_THAT(call<&Thing::fail_oddly>().result().error().message, HasSubstr("no std::exception (int"));
}

// What an actor lets through from another one is told as that one's.
TEST_F(ServingTest, KeepsTheOriginOfWhatComesThroughFromElsewhere) {
  const auto future = call<&Thing::twice_the_inner>(0);
  Encoder to;
  encode(to, Thrown{"Far", "away", "other", 9, 1});
  Thing::inner_state->fail({Code::Failed, "away"}, to.bytes());
  EXPECT_THAT(future.result().error().message, HasSubstr("away (Far, thrown by actor other on node 9"));
}

TEST_F(ServingTest, CoroutinesReturnThrowAndGiveNothing) {
  EXPECT_EQ(call<&Thing::plus_one>(1).get(), 2);
  EXPECT_TRUE(call<&Thing::nothing>().result());
  EXPECT_THAT(call<&Thing::throws>().result().error().message, HasSubstr("in a coroutine"));
}

TEST_F(ServingTest, ACoroutineGivesWayWhileItWaits) {
  const auto waits = call<&Thing::twice_the_inner>(1), nested = call<&Thing::nested>(2);
  EXPECT_EQ(call<&Thing::add>(5).get(), 5);
  EXPECT_FALSE(waits.ready());
  Thing::inner_state->complete(encoded(20));
  EXPECT_EQ(waits.get(), 41);
  EXPECT_EQ(nested.get(), 1042);
}

TEST_F(ServingTest, ACallThatHasNotBegunIsCancelledWithoutRunning) {
  const auto holds = call<&Thing::wait_at_gate>();
  const auto waits = call<&Thing::add>(5);
  waits.cancel();
  EXPECT_EQ(waits.result().error().code, Code::Cancelled);
  Thing::gate.open();
  EXPECT_EQ(holds.get(), 0);
  EXPECT_EQ(call<&Thing::add>(1).get(), 1);
}

TEST_F(ServingTest, ARunningMethodSeesTheCancellationAndTheNextOneDoesNot) {
  const auto runs = call<&Thing::wait_for_cancel>();
  Thing::begun.wait();
  runs.cancel();
  EXPECT_TRUE(runs.get());
  Thing::begun.close();
  const auto next = call<&Thing::wait_for_cancel>();
  Thing::begun.wait();
  runs.cancel();
  EXPECT_FALSE(next.ready());
  next.cancel();
  EXPECT_TRUE(next.get());
}

TEST_F(ServingTest, ACoroutineIsCancelledWhereItWaits) {
  const auto waits = call<&Thing::nested>(1);
  call<&Thing::add>(1).get();  // it waits by now
  waits.cancel();
  EXPECT_EQ(waits.result().error().code, Code::Cancelled);
  Thing::inner_state->complete(encoded(20));
  EXPECT_EQ(call<&Thing::twice_the_inner>(0).get(), 40);
}

TEST_F(ServingTest, ADeadlineEndsTheFutureAndCancelsTheCall) {
  const auto runs = call_within<&Thing::wait_for_cancel>(20ms);
  EXPECT_EQ(runs.result().error().code, Code::Deadline);
  EXPECT_EQ(call<&Thing::add>(1).get(), 1) << "the method was cancelled, so this one had its turn";
}

TEST_F(ServingTest, ACallWhoseDeadlinePassedBeforeItBeganDoesNotRun) {
  const auto holds = call<&Thing::wait_at_gate>();
  const auto late = call_within<&Thing::add>(1ms, 5);
  EXPECT_EQ(late.result().error().code, Code::Deadline);
  Thing::gate.open();
  EXPECT_EQ(call<&Thing::add>(1).get(), 1);
}

TEST_F(ServingTest, OneThreadWaitsForSomeOfSeveralCalls) {
  const std::vector<Future<int>> futures{call<&Thing::add>(1), call<&Thing::add>(1), call<&Thing::wait_at_gate>()};
  EXPECT_EQ(wait_n(futures, 2).size(), 2);
  EXPECT_FALSE(wait_all(futures, 1ms));
  EXPECT_THAT(wait_n(futures, 3, 1ms), ElementsAre(0, 1));
  EXPECT_EQ(wait_any(std::vector{futures[2]}, 1ms), std::nullopt);
  Thing::gate.open();
  EXPECT_TRUE(wait_all(futures));
  EXPECT_EQ(wait_any(futures), 0);
  EXPECT_THROW(wait_any(std::vector<Future<int>>{}), Exception);
}

TEST_F(ServingTest, AMethodOfAnotherClassIsRefused) {
  EXPECT_EQ(call<&Other::touch>().result().error().code, Code::Invalid);
  EXPECT_EQ(call<&Other::wait>().result().error().code, Code::Invalid);
}

TEST_F(ServingTest, ManyCoroutinesWaitAtOnce) {
  std::vector<Future<int>> futures;
  for (int i = 0; i < 2000; ++i) futures.push_back(call<&Thing::nested>(i));
  call<&Thing::add>(1).get();
  Thing::inner_state->complete(encoded(1));
  for (int i = 0; i < 2000; ++i) ASSERT_EQ(futures[static_cast<std::size_t>(i)].get(), 1002 + i);
}

}  // namespace
}  // namespace rt::serving_test
