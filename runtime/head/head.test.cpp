#include "rt/runtime/head/head.h"

#include <gmock/gmock.h>

#include "rt/runtime/head/head_fixture.h"

namespace rt {
namespace {

using testing::Contains;
using testing::IsEmpty;

// --- leases ------------------------------------------------------------------------------------------------------

TEST_F(HeadTest, GrantsAGangWholeWithItsCoresAndGpus) {
  EXPECT_EQ(driver(lease(9, 2, 1, 1)), Lines{to(kDriver, "#9 lease 1 [1: 0 GPU-0] [1: 1 GPU-1]")});
  EXPECT_EQ(free_cpus(), 2);
}

TEST_F(HeadTest, GrantsInTheOrderOfAskingAndNothingInParts) {
  driver(lease(1, 1, 3));
  EXPECT_THAT(other(lease(2, 2, 1)), IsEmpty());
  EXPECT_THAT(other(lease(3, 1, 1)), IsEmpty()) << "it would fit, but came later";
  EXPECT_EQ(free_cpus(), 1);
  EXPECT_EQ(driver(release(kLease + 1)),
            (Lines{to(kOther, "#2 lease 2 [1: 0] [1: 1]"), to(kOther, "#3 lease 3 [1: 2]")}));
}

TEST_F(HeadTest, RefusesForEverWhatCanNeverFit) {
  EXPECT_EQ(driver(lease(1, 5, 1)), Lines{to(kDriver, "#1 error Invalid")});
  EXPECT_EQ(driver(lease(2, 1, 1, 3)), Lines{to(kDriver, "#2 error Invalid")});
  EXPECT_EQ(driver(lease(3, 0, 1)), Lines{to(kDriver, "#3 error Invalid")});
  EXPECT_EQ(driver(lease(4, 4'000'000'000, 0)), Lines{to(kDriver, "#4 error Invalid")});
  EXPECT_EQ(driver(spawn(5, {.actor = 7, .cpus = 5})), Lines{to(kDriver, "#5 error Invalid")});
}

TEST_F(HeadTest, ALeaseIsFreeOnlyWhenItsLastProcessIsGone) {
  driver(lease(1, 2, 2));
  driver(spawn(2, {.actor = 7, .lease = kLease + 1, .bundle = 0}));
  driver(spawn(3, {.actor = 8, .lease = kLease + 1, .bundle = 1}));
  EXPECT_EQ(driver(release(kLease + 1)), (Lines{"1.0 kill 7.1", "1.0 kill 8.1"}));
  agent(exited(7));
  EXPECT_EQ(free_cpus(), 0);
  agent(exited(8));
  EXPECT_EQ(free_cpus(), 4);
  EXPECT_EQ(head.leases(), 0);
}

TEST_F(HeadTest, ALeaseOutlivesTheProcessesThatRanInIt) {
  start_worker();
  agent(exited(7));
  EXPECT_EQ(free_cpus(), 2);
  EXPECT_THAT(driver(spawn(3, {.actor = 8, .lease = kLease + 1})), Contains("1.0 start 8.1 on 0 1"));
}

TEST_F(HeadTest, ACancelledRequestLetsThoseBehindItIn) {
  driver(lease(1, 1, 3));
  driver(lease(2, 1, 4));
  other(lease(3, 1, 1));
  EXPECT_EQ(driver(cancel(2)), Lines{to(kOther, "#3 lease 2 [1: 3]")});
}

// The answer and the cancel cross: the client has forgotten its request and will never release what it got.
TEST_F(HeadTest, ACancelThatComesAfterTheGrantReleases) {
  driver(lease(1, 1, 3));
  other(cancel(1));
  EXPECT_EQ(free_cpus(), 1) << "another client's request of the same number";
  driver(cancel(1));
  EXPECT_EQ(free_cpus(), 4);
}

TEST_F(HeadTest, OnlyItsOwnerReleasesOrUsesALease) {
  driver(lease(1, 1, 3));
  other(release(kLease + 1));
  EXPECT_EQ(free_cpus(), 1);
  EXPECT_EQ(other(spawn(2, {.actor = 7, .lease = kLease + 1})), Lines{to(kOther, "#2 error Refused")});
  EXPECT_EQ(driver(spawn(3, {.actor = 8, .lease = kLease + 1, .bundle = 1})), Lines{to(kDriver, "#3 error Invalid")});
  driver(release(kLease + 1));
  EXPECT_EQ(driver(spawn(4, {.actor = 9, .lease = kLease + 1})), Lines{to(kDriver, "#4 error Refused")});
}

// --- actors ------------------------------------------------------------------------------------------------------

TEST_F(HeadTest, StartsAnActorInItsBundleAndTellsItsOwner) {
  driver(lease(1, 2, 2));
  EXPECT_EQ(driver(spawn(2, {.actor = 7, .lease = kLease + 1, .bundle = 1})),
            (Lines{to(kDriver, "#2 done"), "1.0 start 7.1 on 2 3"}));
  EXPECT_EQ(agent(started(7, 1, kWorker)), Lines{to(kDriver, "started 7.1")});
  EXPECT_EQ(agent(exited(7)), Lines{to(kDriver, "died 7.1 of exit code 1")});
}

TEST_F(HeadTest, AnActorWithSlotsOfItsOwnWaitsForThemAndGivesThemBack) {
  driver(spawn(1, {.actor = 7, .cpus = 4}));
  EXPECT_EQ(driver(spawn(2, {.actor = 8, .cpus = 4})), Lines{to(kDriver, "#2 done")});
  EXPECT_EQ(agent(exited(7)), (Lines{to(kDriver, "died 7.1 of exit code 1"), "1.0 start 8.1 on 0 1 2 3"}));
  agent(exited(8));
  EXPECT_EQ(free_cpus(), 4);
}

TEST_F(HeadTest, ABundleWithoutALeaseMeansNothing) {
  EXPECT_EQ(driver(spawn(1, {.actor = 7, .bundle = 3, .cpus = 1})),
            (Lines{to(kDriver, "#1 done"), "1.0 start 7.1 on 0"}));
}

TEST_F(HeadTest, KillingAnActorThatStillWaitsLetsThoseBehindItIn) {
  driver(lease(1, 1, 1));
  driver(spawn(2, {.actor = 7, .cpus = 4}));
  other(lease(3, 1, 3));
  EXPECT_EQ(driver(kill(7)),
            (Lines{to(kDriver, "died 7.1 of it was killed by the driver (pid 4711) before it had its resources killed"),
                   to(kOther, "#3 lease 2 [1: 1 2 3]")}));
}

TEST_F(HeadTest, RestartsAsOftenAsWasAskedAndNeverAfterAKill) {
  driver(spawn(1, {.actor = 7, .cpus = 1, .restarts = 1}));
  EXPECT_EQ(agent(exited(7, 1)), (Lines{to(kDriver, "died 7.1 of exit code 1 restarts"), "1.0 start 7.2 on 0"}));
  EXPECT_THAT(agent(exited(7, 1)), IsEmpty()) << "the older incarnation's end is no news";
  EXPECT_THAT(agent(started(7, 1, kWorker)), IsEmpty());
  EXPECT_EQ(agent(exited(7, 2)),
            Lines{to(kDriver, "died 7.2 of given up after 1 restart; the first failure: exit code 1")});

  driver(spawn(2, {.actor = 8, .restarts = 3}));
  EXPECT_EQ(driver(kill(8)), Lines{"1.0 kill 8.1"});
  EXPECT_EQ(agent(exited(8)), Lines{to(kDriver, "died 8.1 of it was killed by the driver (pid 4711) killed")});
  EXPECT_EQ(head.actors(), 0);
}

TEST_F(HeadTest, ANameIsOneLivingActors) {
  driver(spawn(1, {.actor = 7, .name = "counter"}));
  EXPECT_EQ(other(lookup(2, "counter")), Lines{to(kOther, "#2 actor 7")}) << "calls wait until it runs";
  agent(started(7, 1, kWorker));
  EXPECT_EQ(other(lookup(3, "counter")), Lines{to(kOther, "#3 actor 7")});
  EXPECT_EQ(driver(spawn(4, {.actor = 8, .name = "counter"})), Lines{to(kDriver, "#4 error Invalid")});
  EXPECT_EQ(driver(spawn(5, {.actor = 7})), Lines{to(kDriver, "#5 error Invalid")}) << "the id is in use";
  agent(exited(7));
  EXPECT_THAT(driver(spawn(6, {.actor = 8, .name = "counter"})), Contains(to(kDriver, "#6 done")));
}

TEST_F(HeadTest, TellsWatchersUntilTheyLeave) {
  driver(spawn(1, {.actor = 7, .restarts = 1}));
  EXPECT_EQ(other(watch(2, 7)), Lines{to(kOther, "#2 done")});
  EXPECT_EQ(agent(started(7, 1, kWorker)), (Lines{to(kDriver, "started 7.1"), to(kOther, "started 7.1")}));
  EXPECT_EQ(other(watch(3, 7)), (Lines{to(kOther, "#3 done"), to(kOther, "started 7.1")}));
  agent(left(kOther));
  EXPECT_EQ(agent(exited(7)), (Lines{to(kDriver, "died 7.1 of exit code 1 restarts"), "1.0 start 7.2 on"}));
  EXPECT_EQ(other(watch(4, 99)), Lines{to(kOther, "#4 error NotFound")});
}

TEST_F(HeadTest, AClientThatLeavesTakesAllOfItsOwnWithIt) {
  start_worker();
  tell({1, kWorker}, spawn(1, {.actor = 8}));
  tell({1, kWorker}, lease(2, 1, 2));
  tell({1, kWorker}, lease(3, 1, 4));
  other(lease(4, 1, 2));
  EXPECT_EQ(agent(left(kWorker)), (Lines{"1.0 kill 8.1", to(kOther, "#4 lease 3 [1: 2 3]")}));
  EXPECT_EQ(agent(left(kDriver)), Lines{"1.0 kill 7.1"}) << "the lease waits for its process";
  agent(exited(7));
  EXPECT_EQ(free_cpus(), 2);
}

// --- keys --------------------------------------------------------------------------------------------------------

TEST_F(HeadTest, EachGangHasKeysOfItsOwnWhichEndWithItsLease) {
  driver(lease(1, 1, 1));
  driver(lease(2, 1, 1));
  for (const std::uint64_t i : {1, 2}) {
    driver(spawn(3, {.actor = i, .lease = kLease + i}));
    agent(started(i, 1, kWorker + i));
  }
  const Origin first{1, kWorker + 1}, second{1, kWorker + 2};
  EXPECT_EQ(tell(first, set(1, "key", "mine")), Lines{to(first.client, "#1 value ")});
  EXPECT_EQ(tell(first, get(2, "key")), Lines{to(first.client, "#2 value mine")});
  EXPECT_THAT(tell(second, get(3, "key")), IsEmpty()) << "it waits for its own gang's";
  EXPECT_EQ(tell(second, set(4, "key", "ours")),
            (Lines{to(second.client, "#4 value "), to(second.client, "#3 value ours")}));
  EXPECT_THAT(driver(get(5, "key")), IsEmpty());
  driver(release(kLease + 1));
  agent(exited(1));
  driver(lease(6, 1, 1));
  driver(spawn(7, {.actor = 3, .lease = kLease + 3}));
  agent(started(3, 1, kWorker + 3));
  EXPECT_THAT(tell({1, kWorker + 3}, get(8, "key")), IsEmpty());
}

// --- nodes -------------------------------------------------------------------------------------------------------

TEST_F(HeadTest, ALostNodeTakesItsProcessesItsClientsAndTheHopesForItWithIt) {
  ASSERT_EQ(tell({}, node(8, 0)), Lines{"2.0 #1 node 2 from " + std::to_string(2 << 20)});
  const Origin there{2, 2 << 20};
  driver(lease(1, 1, 8));
  driver(spawn(2, {.actor = 7, .lease = kLease + 1, .restarts = 5}));
  tell(there, spawn(3, {.actor = 8, .cpus = 4}));  // a client there, an actor here
  driver(lease(4, 1, 6));
  other(lease(5, 1, 1));
  EXPECT_EQ(tell({2, 0}, left(0)),
            (Lines{to(kDriver, "died 7.1 of its node was lost"), "1.0 kill 8.1", to(kDriver, "#4 error Invalid")}));
  EXPECT_EQ(driver(spawn(6, {.actor = 9, .lease = kLease + 1})), Lines{to(kDriver, "#6 error NotSent")});
  EXPECT_THAT(agent(exited(8)), Contains(to(kOther, "#5 lease 3 [1: 0]")));
  EXPECT_THAT(tell({2, 0}, left(0)), IsEmpty());
  EXPECT_EQ(head.totals().nodes, 1);
}

TEST_F(HeadTest, RefusesANodeOfAnotherProtocol) {
  EXPECT_EQ(tell({}, node(1, 0, wire::PROTOCOL_VERSION + 1)), Lines{"0.0 #1 error Refused"});
  EXPECT_EQ(head.totals().nodes, 1);
}

// --- what isn't to be obeyed -------------------------------------------------------------------------------------

TEST_F(HeadTest, RefusesWhatOnlyAnotherMaySay) {
  driver(spawn(1, {.actor = 7}));
  EXPECT_EQ(driver(node(9, 9)), Lines{to(kDriver, "#1 error Refused")});
  EXPECT_THAT(driver(exited(7)), IsEmpty());
  EXPECT_THAT(driver(left(kOther)), IsEmpty());
  EXPECT_EQ(agent(lease(2, 1, 1)), Lines{"1.0 #2 error Refused"});
  EXPECT_EQ(tell({}, lease(3, 1, 1)), Lines{"0.0 #3 error Refused"});
  EXPECT_EQ(tell({9, kDriver}, lease(4, 1, 1)), Lines{"9." + std::to_string(kDriver) + " #4 error Refused"});
  EXPECT_EQ(driver(control([](auto m) { m.initReply().setDone(); }, 5)), Lines{to(kDriver, "#5 error Refused")});
  EXPECT_EQ(head.actors(), 1);
}

// Every cut, and every byte set to extremes, of messages that name much: no crash, and what is Corrupt changed nothing.
TEST_F(HeadTest, DamagedBytesChangeNothing) {
  start_worker();
  const std::vector<std::pair<Origin, std::string>> messages{
      {{}, node(2, 2)},
      {{1, kDriver}, spawn(9, {.actor = 8, .name = "name", .cpus = 1})},
      {{1, 0}, exited(7)},
      {{1, 0}, started(7, 1, kWorker)},
      {{1, kDriver}, set(9, "key", "value")}};
  for (const auto& [from, message] : messages)
    for (std::size_t at = 0; at < message.size(); ++at)
      for (const char byte : {'\0', '\1', '\x7f', '\xff'}) {
        Head copy = head;
        std::string damaged = message;
        damaged[at] = byte;
        if (!copy.handle(from, damaged, {})) {
          EXPECT_EQ(describe(*copy.handle({1, kDriver}, cluster(1), {})),
                    describe(*head.handle({1, kDriver}, cluster(1), {})));
          EXPECT_EQ(copy.actors(), head.actors());
          EXPECT_EQ(describe(*copy.handle({}, node(1, 1), {})), describe(*Head(head).handle({}, node(1, 1), {})));
        }
        (void)copy.handle(from, message.substr(0, at / 8 * 8), {});
      }
}

}  // namespace
}  // namespace rt
