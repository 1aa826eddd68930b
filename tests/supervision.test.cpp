// How actors end: kills, watches, parents, restarts, supervisors. This program is its own job program: a worker never
// gets past the first statement of main.
#include <future>

#include "rt/tests/support/supervised.h"

namespace rt::testing {
namespace {

using namespace std::chrono_literals;
using namespace supervision_test;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

// --- kill and leave ----------------------------------------------------------------------------------------------

TEST_F(Supervision, AStopWithADeadlineLetsTheMethodUnderWayFinishAndDestroysTheActor) {
  const auto actor = spawn({.name = "a"});
  Watch watch = rt::watch(actor);
  const auto working = actor.call<&Worker::work_until_asked_to_stop>();
  ASSERT_TRUE(eventually([&] { return lines().size() == 2; }));
  actor.kill(30s);
  EXPECT_EQ(working.result(kLimit).get(), 42);
  const ActorDeath death = next(watch);
  EXPECT_EQ(death.kind, DeathKind::Killed);
  EXPECT_EQ(death.killed_by, me());
  EXPECT_EQ(death.cause, "it was asked to stop by " + me() + ", and left");
  EXPECT_THAT(lines(), ElementsAre("a begins", "a works", "a is destroyed"));
}

TEST_F(Supervision, WhatDoesNotStopByItsDeadlineIsKilled) {
  const auto actor = spawn({.max_restarts = 5});
  const pid_t pid = actor.call<&Worker::pid>().get();
  Watch watch = rt::watch(actor);
  actor.call<&Worker::work_for_ever>();
  ASSERT_TRUE(eventually([&] { return lines().size() == 2; }));
  actor.kill(10ms);
  EXPECT_THAT(next(watch).cause, HasSubstr("and killed: it had not left within 10 ms"));
  EXPECT_TRUE(is_gone(pid));
}

TEST_F(Supervision, AnActorThatLeavesIsNotRestarted) {
  const auto actor = spawn({.name = "a", .max_restarts = 5});
  Watch watch = rt::watch(actor);
  actor.call<&Worker::leave>().get();
  const ActorDeath death = next(watch);
  EXPECT_EQ(death.kind, DeathKind::Left);
  EXPECT_FALSE(death.will_restart);
  EXPECT_THAT(lines(), ElementsAre("a begins", "a is destroyed"));
}

// --- watch -------------------------------------------------------------------------------------------------------

TEST_F(Supervision, AWatchTellsAnExitCodeASignalAndWhoKilled) {
  const auto exits = spawn(), crashes = spawn(), victim = spawn(), killer = spawn({.name = "killer"});
  Watch exit = rt::watch(exits), crash = rt::watch(crashes), kill = rt::watch(victim);

  exits.call<&Worker::crash>(3);
  const ActorDeath exited = next(exit);
  EXPECT_EQ(exited.kind, DeathKind::Exited);
  EXPECT_EQ(exited.exit_code, 3);
  EXPECT_THAT(exited.last_lines, HasSubstr("crashing with 3"));

  crashes.call<&Worker::raise>(SIGSEGV);
  const ActorDeath crashed = next(crash);
  EXPECT_EQ(crashed.kind, DeathKind::Signalled);
  EXPECT_EQ(crashed.signal, SIGSEGV);

  killer.call<&Worker::kill_other>(victim);
  const ActorDeath killed = next(kill);
  EXPECT_EQ(killed.kind, DeathKind::Killed);
  EXPECT_THAT(killed.killed_by, StartsWith("actor 'killer' (supervision_test::Worker, pid "));
}

TEST_F(Supervision, AWatchHearsOfADeathThatWasBeforeIt) {
  const auto actor = spawn(), other = spawn();
  EXPECT_EQ(error_of(actor.call<&Worker::crash>(4)).code, Code::MaybeRan);
  Watch watch = rt::watch(actor);
  EXPECT_EQ(next(watch).exit_code, 4);
  EXPECT_EQ(other.call<&Worker::death_of>(actor).result(kLimit).get(), "exit code 4");
}

TEST_F(Supervision, AHandlerRunsForEachIncarnationsEnd) {
  const auto actor = spawn({.max_restarts = 1, .restart_delay = 0ms});
  std::promise<bool> first, last;
  const Watch watch = rt::watch(
      actor, [&](const ActorDeath& death) { (death.incarnation == 1 ? first : last).set_value(death.will_restart); });
  actor.call<&Worker::crash>(1);
  EXPECT_TRUE(first.get_future().get());
  actor.call<&Worker::crash>(1);
  EXPECT_FALSE(last.get_future().get());
}

// --- parents -----------------------------------------------------------------------------------------------------

TEST_F(Supervision, ChildrenDieWithTheActorThatSpawnedThem) {
  const auto parent = spawn({.name = "parent"});
  const auto child = parent.call<&Worker::spawn_child>("child", false).get();
  const pid_t pid = child.call<&Worker::pid>().get();
  Watch watch = rt::watch(child);
  parent.kill();
  const ActorDeath death = next(watch);
  EXPECT_EQ(death.kind, DeathKind::ParentEnded);
  EXPECT_THAT(death.cause, AllOf(HasSubstr("its parent, actor 'parent'"), HasSubstr("has ended")));
  EXPECT_TRUE(is_gone(pid));
}

TEST_F(Supervision, AGrandchildWithASessionOfItsOwnDiesWithAnActorHoweverThatEnds) {
  for (const char* how : {"kill", "crash", "leave"}) {
    const auto actor = spawn();
    const pid_t daemon = actor.call<&Worker::leave_a_daemon>().get();
    ASSERT_FALSE(is_gone(daemon));
    Watch watch = rt::watch(actor);
    if (how == std::string("kill")) actor.kill();
    if (how == std::string("crash")) actor.call<&Worker::crash>(1);
    if (how == std::string("leave")) actor.call<&Worker::leave>();
    next(watch);
    EXPECT_TRUE(is_gone(daemon)) << how;
  }
}

// --- restarts ----------------------------------------------------------------------------------------------------

TEST_F(Supervision, ACrashLoopIsGivenUpAndShowsItsFirstError) {
  const auto actor = spawn({.max_restarts = 2, .restart_delay = 1ms}, "throw at first, then exit");
  Watch watch = rt::watch(actor);
  EXPECT_TRUE(next(watch).will_restart);
  EXPECT_TRUE(next(watch).will_restart);
  const ActorDeath last = next(watch);
  EXPECT_FALSE(last.will_restart);
  EXPECT_EQ(
      last.cause,
      "given up after 2 restarts; the first failure: the constructor threw: no such table: weights; the last: exit "
      "code 9");
  EXPECT_THAT(last.last_lines, HasSubstr("no such table: weights"));
  EXPECT_THAT(error_of(actor.call<&Worker::pid>()).message, HasSubstr("no such table: weights"));
}

// --- supervisors -------------------------------------------------------------------------------------------------

TEST_F(Supervision, RestForOneRestartsThoseThatWereSpawnedLater) {
  Supervisor family = cluster->supervise({.strategy = Strategy::RestForOne});
  std::vector<Actor<Worker>> all;
  for (const char* name : {"a", "b", "c"})
    all.push_back(family.spawn<Worker>({.name = name}, std::string(), std::string()));
  for (const auto& actor : all) actor.call<&Worker::pid>().get();
  Watch b = rt::watch(all[1]), c = rt::watch(all[2]);
  all[1].call<&Worker::crash>(1);
  next(b);
  EXPECT_THAT(next(c).cause, HasSubstr("its supervisor restarts it, as actor 'b'"));
  std::vector<std::uint32_t> incarnations;
  for (const auto& actor : all) incarnations.push_back(actor.call<&Worker::facts>().result(kLimit)->incarnation);
  EXPECT_THAT(incarnations, ElementsAre(1, 2, 2));
}

TEST_F(Supervision, OneForAllRestartsTheWholeFamily) {
  Supervisor family = cluster->supervise({.strategy = Strategy::OneForAll});
  std::vector<Actor<Worker>> all;
  std::vector<Watch> watches;
  for (const char* name : {"a", "b", "c"}) {
    all.push_back(family.spawn<Worker>({.name = name}, diary(), std::string()));
    all.back().call<&Worker::pid>().get();
    watches.push_back(rt::watch(all.back()));
  }
  all[1].call<&Worker::crash>(1);
  for (Watch& watch : watches) EXPECT_TRUE(next(watch).will_restart);
  for (const auto& actor : all) EXPECT_EQ(actor.call<&Worker::facts>().result(kLimit)->incarnation, 2u);
  EXPECT_THAT(lines(), UnorderedElementsAre("a begins", "b begins", "c begins", "c is destroyed", "a is destroyed",
                                            "a begins", "b begins", "c begins"))
      << "b crashed, and the others were asked to stop";
}

TEST_F(Supervision, AnActorMaySuperviseItsOwnChildren) {
  const auto parent = spawn({.name = "parent"});
  const auto child = parent.call<&Worker::supervise_child>("child").get();
  Watch watch = rt::watch(child);
  child.call<&Worker::crash>(1);
  EXPECT_TRUE(next(watch).will_restart);
  EXPECT_EQ(child.call<&Worker::facts>().result(kLimit)->incarnation, 2u);
  parent.kill();
  EXPECT_EQ(next(watch).kind, DeathKind::ParentEnded);
}

TEST_F(Supervision, ASupervisorThatGivesUpEndsItsChildren) {
  Supervisor family = cluster->supervise({.strategy = Strategy::OneForOne, .max_restarts = 0});
  const auto a = family.spawn<Worker>({.name = "a"}, std::string(), std::string());
  const auto b = family.spawn<Worker>({.name = "b"}, std::string(), std::string());
  b.call<&Worker::pid>().get();
  Watch watch = rt::watch(b);
  a.call<&Worker::crash>(5);
  EXPECT_THAT(next(watch).cause,
              AllOf(HasSubstr("its supervisor was given up"), HasSubstr("actor 'a'"), HasSubstr("exit code 5")));
}

}  // namespace
}  // namespace rt::testing
