// How actors begin and end in the head: names, parents, causes, restarts, supervisors.
#include <gmock/gmock.h>

#include "rt/runtime/head/head_fixture.h"

namespace rt {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

class HeadActors : public HeadTest {};

const std::string kTheDriver = "the driver (pid 4711)";

// --- names -------------------------------------------------------------------------------------------------------

TEST_F(HeadActors, ANameIsUniqueInItsNamespaceWhichIsItsSpawners) {
  agent(driver_joined(kOther, 4712, "theirs"));
  driver(spawn(1, {.actor = 7, .name = "counter"}));
  EXPECT_THAT(other(spawn(2, {.actor = 8, .name = "counter"})), Contains(to(kOther, "#2 done")));
  agent(started(8, 1, kWorker));
  EXPECT_THAT(worker(spawn(3, {.actor = 9, .name = "child"})), Contains(to(kWorker, "#3 done")));
  EXPECT_EQ(driver(list(4, "theirs")), Lines{to(kDriver, "#4 [8 theirs/counter Class 2][9 theirs/child Class 1]")});
  EXPECT_EQ(driver(lookup(5, "counter")), Lines{to(kDriver, "#5 actor 7")});
  EXPECT_EQ(driver(lookup(6, "child")), Lines{to(kDriver, "#6 error NotFound")});
  EXPECT_EQ(worker(lookup(7, "counter")), Lines{to(kWorker, "#7 actor 8")});
}

// --- memory ------------------------------------------------------------------------------------------------------

TEST_F(HeadActors, ThatReserveMoreMemoryThanANodeHasAreRefusedAndWhoWatchesLearnsWhy) {
  EXPECT_EQ(driver(spawn(1, {.actor = 7, .memory = 1})), Lines{to(kDriver, "#1 error Invalid")});
  EXPECT_THAT(driver(watch(2, 7)).at(0), HasSubstr("lacks 1 B memory"));
}

// --- ends --------------------------------------------------------------------------------------------------------

TEST_F(HeadActors, AStopWithADeadlineIsToldAsWhatBecameOfIt) {
  driver(spawn(1, {.actor = 7}));
  agent(started(7, 1, kWorker));
  EXPECT_EQ(driver(kill(7, 500)), Lines{"1.0 kill 7.1 within 500"});
  EXPECT_THAT(driver(kill(7, 300)), IsEmpty()) << "it was asked already";
  worker(leaving());
  EXPECT_EQ(agent(exited(7, 1, "exit code 0")),
            Lines{to(kDriver, "died 7.1 of it was asked to stop by " + kTheDriver + ", and left killed")});

  driver(spawn(2, {.actor = 8}));
  driver(kill(8, 500));
  EXPECT_EQ(agent(exited(8, 1, "signal 9 (SIGKILL)", "", /*deadline_passed=*/true)),
            Lines{to(kDriver, "died 8.1 of it was asked to stop by " + kTheDriver +
                                  " and killed: it had not left within 500 ms killed")});

  driver(spawn(3, {.actor = 9}));
  driver(kill(9, 500));
  EXPECT_EQ(agent(exited(9, 1, "signal 11 (SIGSEGV)")),
            Lines{to(kDriver, "died 9.1 of it was asked to stop by " + kTheDriver +
                                  ", and ended with signal 11 (SIGSEGV) killed")});
}

TEST_F(HeadActors, AKillAtOnceOverridesAStopAndNamesTheActorThatAsked) {
  driver(spawn(1, {.actor = 7, .name = "seven"}));
  agent(started(7, 1, kWorker));
  driver(spawn(2, {.actor = 8}));
  driver(kill(8, 500));
  EXPECT_EQ(worker(kill(8)), Lines{"1.0 kill 8.1"});
  EXPECT_EQ(agent(exited(8)), Lines{to(kDriver, "died 8.1 of it was killed by actor 'seven' (Class) killed")});
}

TEST_F(HeadActors, OneThatLeavesIsNotRestarted) {
  driver(spawn(1, {.actor = 7, .restarts = 3}));
  agent(started(7, 1, kWorker));
  worker(leaving());
  EXPECT_EQ(agent(exited(7, 1, "exit code 0")), Lines{to(kDriver, "died 7.1 of it left")});
}

TEST_F(HeadActors, DieWithTheirParentUnlessTheyAreDetached) {
  driver(spawn(1, {.actor = 7, .name = "parent"}));
  agent(started(7, 1, kWorker));
  worker(spawn(2, {.actor = 8}));
  worker(spawn(3, {.actor = 9, .detached = true}));
  other(watch(4, 8));
  EXPECT_EQ(agent(left(kWorker)), Lines{"1.0 kill 8.1"});
  EXPECT_THAT(agent(exited(8)),
              Contains(to(kOther, "died 8.1 of its parent, actor 'parent' (Class), has ended killed")));
  EXPECT_EQ(driver(list(5, "")), Lines{to(kDriver, "#5 [7 default/parent Class 2][9 default/ Class 1]")});
}

TEST_F(HeadActors, WhoWatchesTooLateIsToldOfTheDeathAllTheSame) {
  driver(spawn(1, {.actor = 7}));
  agent(exited(7, 1, "exit code 3"));
  EXPECT_EQ(other(watch(2, 7)), Lines{to(kOther, "#2 has died of exit code 3")});
}

// --- restarts ----------------------------------------------------------------------------------------------------

TEST_F(HeadActors, ACrashLoopIsSlowedDownAndItsFirstErrorIsWhatIsShown) {
  driver(spawn(1, {.actor = 7, .name = "loop", .cpus = 1, .restarts = 2}));
  agent(started(7, 1, kWorker));
  worker(threw("no such file: data.csv"));
  EXPECT_EQ(
      agent(exited(7, 1, "exit code 70", "first lines")),
      (Lines{to(kDriver, "died 7.1 of the constructor threw: no such file: data.csv restarts"), "1.0 start 7.2 on 0"}));
  EXPECT_EQ(agent(exited(7, 2, "exit code 1")), Lines{to(kDriver, "died 7.2 of exit code 1 restarts")});
  EXPECT_EQ(head.next_tick(), HeadTime(100));
  EXPECT_EQ(free_cpus(), 3) << "it keeps its slot";
  EXPECT_EQ(driver(lookup(2, "loop")), Lines{to(kDriver, "#2 actor 7")});
  EXPECT_EQ(wait_for_tick(), Lines{"1.0 start 7.3 on 0"});
  EXPECT_EQ(agent(exited(7, 3, "exit code 2")),
            Lines{to(kDriver,
                     "died 7.3 of given up after 2 restarts; the first failure: the constructor threw: no such file: "
                     "data.csv; the last: exit code 2")});
  EXPECT_EQ(free_cpus(), 4);
}

TEST_F(HeadActors, OneThatWaitsForItsRestartCanBeKilled) {
  driver(spawn(1, {.actor = 7, .restarts = 9}));
  agent(exited(7, 1));
  agent(exited(7, 2));
  EXPECT_EQ(driver(kill(7)),
            Lines{to(kDriver, "died 7.3 of it was killed by " + kTheDriver + " before it was restarted killed")});
  EXPECT_EQ(head.next_tick(), std::nullopt);
}

// --- supervisors -------------------------------------------------------------------------------------------------

TEST_F(HeadActors, OneForAllStopsTheSiblingsAndStartsAllInOrderOnceAllAreGone) {
  driver(supervise(20, wire::Strategy::ONE_FOR_ALL, 2));
  for (const std::uint64_t actor : {7, 8, 9}) driver(spawn(actor, {.actor = actor, .supervisor = 20}));
  EXPECT_EQ(agent(exited(8)), (Lines{to(kDriver, "died 8.1 of exit code 1 restarts"), "1.0 kill 9.1 within 500",
                                     "1.0 kill 7.1 within 500"}));
  EXPECT_EQ(agent(exited(9)), Lines{to(kDriver,
                                       "died 9.1 of its supervisor restarts it, as actor 8 (Class): exit code 1, "
                                       "and ended with exit code 1 killed restarts")});
  const Lines last = agent(exited(7));
  EXPECT_EQ(Lines(last.begin() + 1, last.end()), (Lines{"1.0 start 7.2 on", "1.0 start 8.2 on", "1.0 start 9.2 on"}));
}

TEST_F(HeadActors, ASupervisorThatGivesUpEndsAllAndNamesTheFirstFailure) {
  driver(supervise(20, wire::Strategy::ONE_FOR_ONE, 1));
  driver(spawn(1, {.actor = 7, .supervisor = 20}));
  driver(spawn(2, {.actor = 8, .supervisor = 20}));
  agent(exited(7, 1, "exit code 3"));
  const std::string why = "given up after 1 restart; the first failure: actor 7 (Class): exit code 3";
  EXPECT_EQ(agent(exited(8)), (Lines{"1.0 kill 7.2", to(kDriver, "died 8.1 of " + why)}));
  EXPECT_EQ(agent(exited(7, 2)), Lines{to(kDriver, "died 7.2 of its supervisor was " + why + " killed")});
  EXPECT_EQ(driver(spawn(3, {.actor = 9, .supervisor = 20})), Lines{to(kDriver, "#3 error Refused")});
  EXPECT_EQ(other(spawn(4, {.actor = 10, .supervisor = 20})), Lines{to(kOther, "#4 error Refused")});
}

TEST_F(HeadActors, AChildThatWasKilledIsNotRestartedAndHoldsNobodyUp) {
  driver(supervise(20, wire::Strategy::ONE_FOR_ALL, 2));
  driver(spawn(1, {.actor = 7, .supervisor = 20}));
  driver(spawn(2, {.actor = 8, .supervisor = 20}));
  driver(kill(8));
  EXPECT_EQ(agent(exited(8)), Lines{to(kDriver, "died 8.1 of it was killed by " + kTheDriver + " killed")});
  EXPECT_EQ(agent(exited(7)), (Lines{to(kDriver, "died 7.1 of exit code 1 restarts"), "1.0 start 7.2 on"}));
}

}  // namespace
}  // namespace rt
