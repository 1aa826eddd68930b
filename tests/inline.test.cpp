// What is only so where all actors are in one process and on one thread: RT_LOCAL=inline.
#include <thread>
#include <utility>

#include "rt/actors/testing.h"
#include "rt/tests/support/conformance_data.h"

namespace rt::testing {
namespace {

using namespace std::chrono_literals;
using namespace conformance;
using ::testing::AllOf;
using ::testing::HasSubstr;

class Inline : private LocalMode, public PeopleTest {
 protected:
  Inline() : LocalMode(Where::Inline) {}
};

TEST_F(Inline, StartsNoProcessNoThreadAndNoRunFolder) {
  EXPECT_EQ(person({}, 3).call<&Person::value>().get(), 3);
  EXPECT_TRUE(sandbox.processes().empty());
  EXPECT_TRUE(fs::is_empty(sandbox.path()));
  EXPECT_EQ(std::distance(fs::directory_iterator("/proc/self/task"), {}), 1);
}

// Two that call each other and wait: the circle is named, at once, and both live on.
TEST_F(Inline, AWaitThatNothingCanEndFailsAtOnce) {
  const auto first = person({.name = "first", .cpus = 4});
  const auto second = person({.name = "second", .cpus = 4});
  const auto waits = second.call<&Person::value>();
  try {
    waits.get();
    FAIL() << "it returned";
  } catch (const Exception& e) {
    EXPECT_EQ(e.code(), Code::Deadlock);
    EXPECT_THAT(e.what(), AllOf(HasSubstr("the driver waits for actor"), HasSubstr("which has not started"),
                                HasSubstr("Person::value")));
  }
  Watch watch = rt::watch(first);
  EXPECT_EQ(watch.next().error().code, Code::Deadlock);
  EXPECT_EQ(watch.next(10min).error().code, Code::Deadline) << "and one with a limit has passed it";
}

TEST_F(Inline, TheOrderIsThatOfTheCallsAcrossAllActors) {
  const auto judge = person();
  std::vector<Actor<Person>> people;
  for (int i = 0; i < 3; ++i) people.push_back(person_who_met(judge));
  std::vector<std::string> expected;
  for (int round = 0; round < 3; ++round)
    for (int i = 0; i < 3; ++i) {
      expected.push_back(std::to_string(round) + std::to_string(i));
      (void)people[i].send<&Person::tell_other>(expected.back());
    }
  EXPECT_FALSE(person().call<&Person::wait_for_key>("never").result(1ms));
  EXPECT_EQ(judge.call<&Person::notes>().get(), expected);
}

TEST_F(Inline, MoreCallsThanAMailboxTakesAreHeldBackAndRunInOrder) {
  const auto busy = person();
  const auto waits = busy.call<&Person::wait_for_key>("go");
  constexpr int kCalls = 100'100;
  std::vector<Future<int>> sums;
  for (int i = 0; i < kCalls; ++i) sums.push_back(busy.call<&Person::add>(1));
  EXPECT_FALSE(sums.back().result(1ms));
  person().call<&Person::set_key>("go", "").get();
  EXPECT_EQ(sums.back().get(), kCalls);
  EXPECT_EQ(sums[kCalls / 2].get(), kCalls / 2 + 1);
}

TEST_F(Inline, OneThatLeavesWhileItsThreadWaitsForNobodyCanBeKilled) {
  const auto actor = person({.concurrency = 2});
  const auto waits = actor.call<&Person::wait_for_ever>(person({.name = "idle"}));
  actor.call<&Person::leave>().get();
  EXPECT_EQ(error_of(waits).code, Code::Deadline);
  actor.kill();
  EXPECT_EQ(error_of(waits).code, Code::MaybeRan);
}

TEST_F(Inline, AnotherThreadIsRefused) {
  const auto actor = person();
  std::string said;
  std::thread([&] {
    try {
      actor.call<&Person::value>().get();
    } catch (const Exception& e) {
      said = e.what();
    }
  }).join();
  EXPECT_THAT(said, HasSubstr("only the thread that connected may use rt"));
}

TEST_F(Inline, ATaskThatCanGetNoSlotFailsAtOnce) {
  const auto holder = person({.cpus = 4});
  holder.call<&Person::value>().get();
  const auto waits = cluster->run<&add>(1, 2);
  const Result<int> ended = waits.result();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, Code::Deadlock);
  EXPECT_THAT(ended.error().message, HasSubstr("TaskBroker::want"));
  holder.kill();
  EXPECT_EQ(cluster->run<&add>(1, 2).get(), 3);
}

// Descriptors, memory maps, objects: as before, whatever state the actors were in.
TEST(InlineCluster, NothingOfOneIsLeftForTheNext) {
  const auto entries = [](const char* folder) { return std::distance(fs::directory_iterator(folder), {}); };
  const auto play = [] {
    InlineCluster cluster({.cpus = 2, .name_space = "play"});
    const auto idle = cluster.spawn<Person>({.name = "idle"}, 1);
    const auto blocked = cluster.spawn<Person>({.name = "blocked"}, 2);
    const auto gentle = cluster.spawn<Person>({.cpus = 1}, 3);
    EXPECT_EQ(idle.call<&Person::value>().get(), 1);
    gentle.call<&Person::meet>(blocked).get();
    const auto waits = blocked.call<&Person::wait_for_key>("never");
    const auto suspended = gentle.call<&Person::add_gently>(1);
    const auto ref = cluster.put(numbers(100'000));
    EXPECT_EQ(cluster.run<&sum>(ref).get(), 4'999'950'000.0);
    const auto task = cluster.run<&conformance::wait_for_key>("begun", "never");
    (void)idle.call<&Person::wait_for_key>("begun").get();
    cluster.spawn<Person>({.name = "pending", .cpus = 2}, 4);
    EXPECT_EQ(cluster.list_actors("play")->size(), 4u);
    EXPECT_FALSE(suspended.result(1ms));
    EXPECT_GT(Person::alive, 0);
  };
  play();
  const auto descriptors = entries("/proc/self/fd");
  for (int i = 0; i < 20; ++i) play();
  EXPECT_EQ(Person::alive, 0);
  EXPECT_EQ(entries("/proc/self/fd"), descriptors);
  EXPECT_EQ(entries("/proc/self/task"), 1);
}

TEST(InlineCluster, TasksBeginInTheSameOrderInEachRunAlsoWhereTheyWaitForOthers) {
  const auto order = [] {
    InlineCluster cluster({.cpus = 3});
    std::vector<Future<int>> answers;
    for (int i = 0; i < 30; ++i) answers.push_back(cluster.run<&note_and_ask>(i));
    for (int i = 0; i < 30; ++i) EXPECT_EQ(answers[static_cast<std::size_t>(i)].get(), i + 1);
    return std::exchange(begun(), {});
  };
  const std::vector<int> first = order();
  EXPECT_EQ(first.size(), 30u);
  for (int run = 0; run < 10; ++run) EXPECT_EQ(order(), first);
}

TEST(InlineCluster, TwoAtOnceDoNotSeeEachOther) {
  InlineCluster one, other;
  const auto a = one.spawn<Person>({.name = "same"}, 1), b = other.spawn<Person>({.name = "same"}, 2);
  EXPECT_EQ(a.call<&Person::value>().get() + b.call<&Person::value>().get(), 3);
}

TEST(InlineMode, AnUnknownWordIsRefused) {
  ::setenv("RT_LOCAL", "thread", 1);
  EXPECT_THROW(rt::connect(0, nullptr), Exception);
  ::unsetenv("RT_LOCAL");
}

}  // namespace
}  // namespace rt::testing
