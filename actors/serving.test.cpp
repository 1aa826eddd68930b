// An actor's calls from end to end inside one process: Peers on one side, Serving on a thread of its own on the other.
#include "rt/actors/serving.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <thread>

#include "rt/actors/actor.h"
#include "rt/actors/io_thread.h"
#include "rt/actors/peers.h"
#include "rt/actors/wait.h"
#include "rt/runtime/base/temporary_folder.h"

namespace rt::serving_test {

using namespace std::chrono_literals;
using detail::CallState;
using testing::ElementsAre;
using testing::HasSubstr;

// A door that a method waits at until the test opens it.
class Gate {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    is_open_ = true;
    changed_.notify_all();
  }
  void close() {
    const std::lock_guard lock(mutex_);
    is_open_ = false;
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return is_open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_open_ = false;
};

struct Custom : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Other {
  int touch() { return 1; }
  Task<int> wait() { co_return 1; }
};

class Thing {
 public:
  int add(int by) { return n_ += by; }
  void fail() { throw Custom("it can't"); }
  void fail_oddly() { throw 7; }
  int wait_at_gate() {
    gate.wait();
    return n_;
  }
  bool wait_for_cancel() {
    const std::stop_token token = this_call().stop_token();
    Gate asked;
    const std::stop_callback tell(token, [&] { asked.open(); });
    begun.open();
    asked.wait();
    return token.stop_requested();
  }
  int wait_in_group() { return wait_at_gate(); }
  std::uint64_t thread() { return std::hash<std::thread::id>()(std::this_thread::get_id()); }
  std::uint64_t thread_in_group() { return thread(); }
  Task<std::uint64_t> thread_of_coroutine() { co_return thread(); }
  Task<int> plus_one(int value) { co_return value + 1; }
  Task<void> nothing() { co_return; }
  Task<int> throws() {
    throw Custom("in a coroutine");
    co_return 0;
  }
  // Waits for a call that the test answers.
  Task<int> twice_the_inner(int add) {
    const std::string by_reference(1000, 'x');
    co_return 2 * co_await inner() + add + (by_reference.size() == 1000 ? 0 : 1);
  }
  // Yields 0, 1, ... up to `count`, and says how far it came and that its frame went.
  Stream<int> counts(int count) {
    struct Guard {
      ~Guard() { gate.open(); }
    } const guard;
    for (yielded = 0; yielded < count; ++yielded) co_yield int(yielded);
  }
  int how_many() { return yielded; }
  Stream<std::string> words_then_throws() {
    co_yield "one";
    co_yield std::to_string(co_await inner());
    throw Custom("no third");
  }
  static inline std::atomic<int> yielded{0};
  Task<int> nested(int add) { co_return co_await twice_the_inner(add) + 1000; }

  static Future<int> inner() { return Future<int>(inner_state); }
  static inline std::shared_ptr<CallState> inner_state;
  static inline Gate gate, begun;

 private:
  int n_ = 0;
};

}  // namespace rt::serving_test

template <>
inline constexpr std::string_view rt::thread_group<&rt::serving_test::Thing::wait_in_group> = "io";
template <>
inline constexpr std::string_view rt::thread_group<&rt::serving_test::Thing::thread_in_group> = "io";

namespace rt::serving_test {
namespace {

constexpr ActorId kActor = 7;

std::string encoded(int value) {
  Encoder to;
  encode(to, value);
  return to.take();
}

class ServingTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Thing::gate.close();
    Thing::begun.close();
    Thing::inner_state = std::make_shared<CallState>(callee.poller());
    ASSERT_TRUE(mailbox.open(folder.path() / "actor"));
    serving.open({.object = std::make_shared<Thing>(),
                  .of = detail::class_hash<Thing>(),
                  .place = {.actor = "thing", .node = 3, .pid = 4711},
                  .threads = threads(),
                  .groups = {{"io", 2}}});
    server = std::thread([this] {
      try {
        serving.serve();
      } catch (const End&) {
      }
    });
    peers.on_started(kActor, 1, folder.path() / "actor");
  }
  // The last call throws the thread out of its loop.
  void TearDown() override {
    end.run = [](detail::Executor::Job&) { throw End(); };
    mailbox.post(end);
    server.join();
    Thing::inner_state = nullptr;
    caller.stop();
    callee.stop();
  }

  template <auto M, class... Args>
  auto call(Args... args) {
    return call_within<M>(0ns, args...);
  }
  template <auto M, class... Args>
  auto stream(Args... args) {
    using Method = detail::Method<M>;
    Encoder to;
    encode(to, typename Method::Traits::Arguments(args...));
    auto items = detail::StreamInlet::make_items();
    auto call = peers.call(kActor, Method::name, to.bytes(), {.sink = items});
    return typename Method::Traits::Returned(std::make_unique<detail::StreamInlet>(std::move(call), items));
  }
  template <auto M, class... Args>
  auto call_within(std::chrono::nanoseconds deadline, Args... args) {
    using Method = detail::Method<M>;
    Encoder to;
    encode(to, typename Method::Traits::Arguments(args...));
    return Future<typename Method::Traits::Result>(peers.call(kActor, Method::name, to.bytes(), {deadline}));
  }

  virtual std::uint32_t threads() { return 1; }

  struct End {};
  const TemporaryFolder folder;
  detail::Executor::Job end;
  detail::IoThread callee, caller;
  detail::Mailbox mailbox{callee.io(), kActor, 1, {}};
  detail::Serving serving{mailbox};
  detail::Peers peers{caller.io(), nullptr, [](ActorId) {}};
  std::thread server;
};

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
    const auto stream = dies.call(kActor, detail::Method<&Thing::counts>::name, to.bytes(), {.sink = items});
    EXPECT_EQ(call<&Thing::how_many>().get(), Thing::yielded.load());
    dies.fail_all({Code::Unavailable, "over"});
    other.stop();
  }
  Thing::gate.wait();
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
