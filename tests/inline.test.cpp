// What is only so where all actors are in one process and on one thread: RT_LOCAL=inline.
#include <thread>

#include "rt/actors/testing.h"
#include "rt/tests/support/conformance.h"

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
TEST_F(Inline, ACircleOfWaitingActorsFailsAndIsNamed) {
  const auto a = person({.name = "a"}), b = person({.name = "b"});
  a.call<&Person::meet>(b).get();
  b.call<&Person::meet>(a).get();
  const Error error = error_of(a.call<&Person::meet_in_a_circle>());
  EXPECT_THAT(error.message,
              AllOf(HasSubstr("these wait for each other, and none could ever go on: "),
                    HasSubstr("actor 'a' waits for actor 'b' (conformance::Person::add_to_other), which waits for "
                              "actor 'a' (conformance::Person::add)")));
  EXPECT_EQ(a.call<&Person::value>().get() + b.call<&Person::value>().get(), 0);
}

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

// Descriptors, memory maps, objects: as before, whatever state the actors were in.
TEST(InlineCluster, NothingOfOneIsLeftForTheNext) {
  const auto entries = [](const char* folder) { return std::distance(fs::directory_iterator(folder), {}); };
  const auto play = [] {
    InlineCluster cluster({.cpus = 2, .name_space = "play"});
    const auto idle = cluster.spawn<Person>({.name = "idle"}, 1);
    const auto blocked = cluster.spawn<Person>({.name = "blocked"}, 2);
    const auto gentle = cluster.spawn<Person>({.cpus = 1}, 3);
    cluster.spawn<Person>({.name = "pending", .cpus = 2}, 4);
    EXPECT_EQ(idle.call<&Person::value>().get(), 1);
    gentle.call<&Person::meet>(blocked).get();
    const auto waits = blocked.call<&Person::wait_for_key>("never");
    const auto suspended = gentle.call<&Person::add_gently>(1);
    EXPECT_EQ(cluster.list_actors()->size(), 4u);
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
