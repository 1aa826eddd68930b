// Calls, coroutines, names, ends and restarts, as they are in processes of their own and inline alike. This program is
// its own job program.
#include "rt/tests/support/conformance.h"

#include <unistd.h>

#include <future>
#include <numeric>

namespace rt::testing {
namespace {

using namespace std::chrono_literals;
using namespace conformance;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

using Conformance = AtEach<PeopleTest>;
INSTANTIATE_TEST_SUITE_P(In, Conformance, ::testing::Values(Where::Processes, Where::Inline), name_of);

ActorDeath next(Watch& watch) { return watch.next(kLimit).get(); }

// --- calls -------------------------------------------------------------------------------------------------------

TEST_P(Conformance, CallsAndSendsRunInTheOrderInWhichTheyWereMade) {
  const auto one = person();
  std::vector<std::string> order;
  for (int i = 0; i < 2000; ++i) {
    order.push_back(std::to_string(i));
    if (i % 2 == 0)
      one.call<&Person::note>(order.back());
    else
      EXPECT_TRUE(one.send<&Person::note>(order.back()));
  }
  EXPECT_EQ(one.call<&Person::notes>().get(), order);
}

TEST_P(Conformance, ArgumentsAndResultsAreCopies) {
  std::vector<int> numbers{3, 1, 2};
  const auto sorted = person().call<&Person::sorted>(numbers);
  numbers.assign(3, 9);
  EXPECT_THAT(sorted.get(), ElementsAre(1, 2, 3));
  EXPECT_THAT(numbers, ElementsAre(9, 9, 9));
}

TEST_P(Conformance, AnExceptionComesWithItsTypeTextAndOriginThroughSeveralActors) {
  const auto thrower = person({.name = "thrower"});
  const auto between = person_who_met(thrower);
  try {
    between.call<&Person::let_other_fail>("no such row").get();
    FAIL() << "it returned";
  } catch (const CallFailed& e) {
    EXPECT_EQ(e.code(), Code::Failed);
    EXPECT_EQ(e.thrown().type, "std::out_of_range");
    EXPECT_EQ(e.thrown().text, "no such row");
    EXPECT_EQ(e.thrown().actor, "thrower");
    EXPECT_EQ(e.thrown().node, 1u);
  }
  EXPECT_EQ(between.call<&Person::add_to_other>(2).get(), 2) << "both live on";
}

TEST_P(Conformance, AMethodWaitsWhileItHandlesAnExceptionAndThrowsItOn) {
  const auto other = person();
  std::vector<Future<Unit>> calls;
  for (int i = 0; i < 3; ++i)
    calls.push_back(person_who_met(other).call<&Person::tell_other_and_fail>("why " + std::to_string(i)));
  for (int i = 0; i < 3; ++i) EXPECT_THAT(error_of(calls[i]).message, HasSubstr("why " + std::to_string(i)));
  EXPECT_THAT(other.call<&Person::notes>().get(), ::testing::UnorderedElementsAre("why 0", "why 1", "why 2"));
}

TEST_P(Conformance, SomeOfSeveralCallsAreWaitedFor) {
  const auto quick = person(), slow = person();
  const auto last = slow.call<&Person::wait_for_key>("go");
  std::vector futures{quick.call<&Person::add>(1), quick.call<&Person::add>(1), quick.call<&Person::add>(1)};
  EXPECT_THAT(rt::wait_n(futures, 2), ::testing::SizeIs(::testing::Ge(2)));
  EXPECT_TRUE(rt::wait_all(futures));
  EXPECT_EQ(rt::wait_any(futures), 0u);
  EXPECT_EQ(rt::wait_any(std::vector{last}, 1ms), std::nullopt);
  quick.call<&Person::set_key>("go", "now");
  EXPECT_EQ(last.result(kLimit).get(), "now");
}

TEST_P(Conformance, AContinuationRunsWithTheResult) {
  auto told = std::make_shared<std::promise<int>>();
  const auto one = person({}, 4);
  const auto future = one.call<&Person::add>(1);
  future.then([told](const Result<int>& sum) { told->set_value(*sum); });
  EXPECT_EQ(future.get(), 5);
  auto seen = told->get_future();
  EXPECT_TRUE(eventually([&] {
    one.call<&Person::value>().get();
    return seen.wait_for(0s) == std::future_status::ready;
  }));
  EXPECT_EQ(seen.get(), 5);
}

TEST_P(Conformance, TwoActorsThatWaitForWhatTheOtherDoesBothGoOn) {
  const auto a = person({}, 1), b = person({}, 2);
  const auto first = a.call<&Person::meet_at>("a", "b");
  const auto second = b.call<&Person::meet_at>("b", "a");
  EXPECT_EQ(first.result(kLimit).get() + second.result(kLimit).get(), 3);
}

// --- coroutines --------------------------------------------------------------------------------------------------

TEST_P(Conformance, ADriverAndAnActorRunCoroutines) {
  std::vector<Actor<Person>> people;
  for (int i = 0; i < 3; ++i) people.push_back(person({}, 10 * i));
  EXPECT_EQ(cluster->wait(sum_of(people)), 1 + 11 + 21);
  EXPECT_EQ(person_who_met(people.front()).call<&Person::add_gently>(5).get(), 6);
}

TEST_P(Conformance, AnActorWhoseCoroutineWaitsAnswersOthersAndABlockedOneDoesNot) {
  const auto busy = person();
  const auto gentle = person_who_met(busy), blocked = person_who_met(busy);
  hold(busy);
  const auto coroutine = gentle.call<&Person::add_gently>(1);
  EXPECT_THAT(gentle.call<&Person::notes>().get(), ElementsAre("begins"));
  const auto waits = blocked.call<&Person::add_to_other>(1);
  const auto after = blocked.call<&Person::value>();
  EXPECT_FALSE(after.result(1ms));
  let_go();
  EXPECT_TRUE(after.result(kLimit));
  EXPECT_EQ(coroutine.result(kLimit).get() + waits.result(kLimit).get(), 3);
}

// --- several methods at once ---------------------------------------------------------------------------------------

TEST_P(Conformance, AnActorWithThreadsRunsAMethodWhileAnotherWaits) {
  const auto actor = person({.concurrency = 2}, 7);
  const auto waits = actor.call<&Person::wait_for_key>("go");
  EXPECT_EQ(actor.call<&Person::value>().result(kLimit).get(), 7);
  EXPECT_FALSE(waits.ready());
  actor.call<&Person::set_key>("go", "now").result(kLimit).get();
  EXPECT_EQ(waits.result(kLimit).get(), "now");
}

TEST_P(Conformance, ACallThatComesBackIsAnsweredByAThreadThatIsFree) {
  const auto a = person({.name = "a", .concurrency = 2}, 1), b = person_who_met(a);
  a.call<&Person::meet>(b).get();
  EXPECT_EQ(a.call<&Person::meet_in_a_circle>().result(kLimit).get(), 2);
}

TEST_P(Conformance, AGroupsMethodsDoNotHoldUpTheOthersAndACancelledOneDoesNotBegin) {
  const auto actor = person({.groups = {{"slow", 1}}}, 7);
  const auto waits = actor.call<&Person::wait_slowly>("go"), queued = actor.call<&Person::wait_slowly>("never");
  EXPECT_EQ(actor.call<&Person::value>().result(kLimit).get(), 7);
  queued.cancel();
  EXPECT_EQ(error_of(queued).code, Code::Cancelled);
  actor.call<&Person::set_key>("go", "now").get();
  EXPECT_EQ(waits.result(kLimit).get(), "now");
}

TEST_P(Conformance, OneThatIsKilledEndsOnAllItsThreads) {
  const auto actor = person({.concurrency = 3});
  Watch watch = rt::watch(actor);
  const std::vector calls{actor.call<&Person::meet_at>("a", "never"), actor.call<&Person::meet_at>("b", "never")};
  const auto other = person();
  other.call<&Person::wait_for_key>("a").get();
  other.call<&Person::wait_for_key>("b").get();
  actor.kill();
  EXPECT_EQ(next(watch).kind, DeathKind::Killed);
  for (const auto& call : calls) EXPECT_EQ(error_of(call).code, Code::MaybeRan);
}

TEST_P(Conformance, OneThatLeavesLetsTheMethodsOnItsThreadsEnd) {
  const auto actor = person({.concurrency = 2}, 5);
  Watch watch = rt::watch(actor);
  const auto meets = actor.call<&Person::meet_at>("mine", "theirs");
  const auto other = person();
  other.call<&Person::wait_for_key>("mine").get();
  actor.call<&Person::leave>().get();
  other.call<&Person::set_key>("theirs", "").get();
  other.call<&Person::set_key>("theirs left", "").get();
  EXPECT_EQ(meets.result(kLimit).get(), 5);
  EXPECT_EQ(next(watch).kind, DeathKind::Left);
}

TEST_P(Conformance, ACallerWithMorePendingCallsThanItMayHaveWaitsForRoom) {
  const auto actor = person({.max_pending_calls = 1});
  const auto first = actor.call<&Person::add>(1), second = actor.call<&Person::add>(1);
  EXPECT_TRUE(first.ready()) << "the second one was sent when the first had been answered";
  EXPECT_EQ(second.result(kLimit).get(), 2);
}

// --- deadlines and cancellation ----------------------------------------------------------------------------------

TEST_P(Conformance, ADeadlineEndsACallWhereItWaitsAndTheActorLivesOn) {
  const auto never = cluster->spawn<Person>({.name = "never", .resources = {{"licence", 1}}}, 0);
  const auto holder = cluster->spawn<Person>({.resources = {{"licence", 1}}}, 0);  // waits until `never` has ended
  never.call<&Person::value>().get();
  const auto gentle = person_who_met(holder);
  EXPECT_EQ(error_of(gentle.within(30ms).call<&Person::add_gently>(1)).code, Code::Deadline);
  EXPECT_EQ(gentle.call<&Person::value>().get(), 0);
  never.kill();
  EXPECT_EQ(holder.call<&Person::value>().result(kLimit).get(), 0) << "what was given up didn't run";
}

TEST_P(Conformance, ACancelledCallDoesNotBeginAndACoroutineStopsWhereItWaits) {
  const auto busy = person();
  hold(busy);
  const auto queued = busy.call<&Person::add>(100);
  const auto gentle = person_who_met(busy).call<&Person::add_gently>(1000);
  EXPECT_FALSE(queued.result(1ms));
  queued.cancel();
  gentle.cancel();
  EXPECT_EQ(error_of(queued).code, Code::Cancelled);
  EXPECT_EQ(error_of(gentle).code, Code::Cancelled);
  let_go();
  EXPECT_EQ(busy.call<&Person::value>().result(kLimit).get() % 1000, 0) << "what had been sent to it may have run";
}

// --- names and handles -------------------------------------------------------------------------------------------

TEST_P(Conformance, AnActorKnowsWhoItIs) {
  const auto one = person({.name = "one", .name_space = "other", .threads = 3});
  const Facts facts = one.call<&Person::facts>().get();
  EXPECT_EQ(facts.id, one.id());
  EXPECT_EQ(facts.incarnation, 1u);
  EXPECT_EQ(facts.node, 1u);
  EXPECT_EQ(facts.threads, 3u);
  EXPECT_EQ(facts.name, "one");
  EXPECT_EQ(facts.name_space, "other");
  EXPECT_THROW(rt::self(), Exception) << "a driver is no actor";
}

TEST_P(Conformance, ActorsAreFoundAndListedByNamespaceAsLongAsTheyLive) {
  person({.name = "here"}, 7).call<&Person::value>().get();
  const auto there = person({.name = "there", .name_space = "other"});
  there.call<&Person::value>().get();
  EXPECT_EQ(cluster->get_actor<Person>("here").get().call<&Person::value>().get(), 7);
  EXPECT_EQ(cluster->get_actor<Person>("there", "other")->id(), there.id());
  EXPECT_THAT(cluster->get_actor<Person>("there").error().message,
              AllOf(HasSubstr("in namespace 'test'"), HasSubstr("there is one in namespace 'other'")));
  const auto listed = cluster->list_actors("other");
  ASSERT_EQ(listed->size(), 1u);
  EXPECT_EQ(listed->at(0).class_name, "conformance::Person");
  EXPECT_EQ(listed->at(0).state, ActorState::Running);

  EXPECT_THAT(error_of(person({.name = "here"}).call<&Person::value>()).message, HasSubstr("the name 'here' is taken"));
  Watch watch = rt::watch(there);
  there.kill();
  next(watch);
  EXPECT_EQ(cluster->get_actor<Person>("there", "other").error().code, Code::NotFound);
}

TEST_P(Conformance, WhatNoNodeCanHoldIsRefusedAndWhatIsTakenIsWaitedFor) {
  EXPECT_EQ(error_of(person({.cpus = 5}).call<&Person::value>()).code, Code::NotSent);
  const auto first = person({.cpus = 3});
  first.call<&Person::value>().get();
  EXPECT_EQ(cluster->totals()->free_cpus, 1u);
  const auto second = person({.cpus = 2}).call<&Person::value>();
  EXPECT_FALSE(second.ready());
  first.kill();
  EXPECT_TRUE(second.result(kLimit));
}

// --- ends --------------------------------------------------------------------------------------------------------

TEST_P(Conformance, AKillEndsACallUnderWayAndTheNextIsNotSent) {
  const auto victim = person({.max_restarts = 5});
  Watch watch = rt::watch(victim);
  const auto waits = victim.call<&Person::meet_at>("mine", "never");
  person().call<&Person::wait_for_key>("mine").get();
  victim.kill();
  const Error error = error_of(waits);
  EXPECT_EQ(error.code, Code::MaybeRan);
  EXPECT_THAT(error.message, HasSubstr("it was killed by " + me()));
  const ActorDeath death = next(watch);
  EXPECT_EQ(death.kind, DeathKind::Killed);
  EXPECT_EQ(death.killed_by, me());
  EXPECT_FALSE(death.will_restart);
  EXPECT_EQ(error_of(victim.call<&Person::value>()).code, Code::NotSent);
}

TEST_P(Conformance, OneThatIsAskedToStopLeavesWhenItsMethodIsAnswered) {
  const auto actor = person({}, 42);
  Watch watch = rt::watch(actor);
  const auto waits = actor.call<&Person::meet_at>("mine", "theirs");
  const auto other = person();
  other.call<&Person::wait_for_key>("mine").get();
  actor.kill(30s);
  other.call<&Person::set_key>("theirs", "").get();
  other.call<&Person::set_key>("theirs left", "").get();
  EXPECT_EQ(waits.result(kLimit).get(), 42);
  EXPECT_EQ(next(watch).cause, "it was asked to stop by " + me() + ", and left");
}

TEST_P(Conformance, OneThatDoesNotLeaveByItsDeadlineIsKilled) {
  const auto actor = person();
  Watch watch = rt::watch(actor);
  const auto waits = actor.call<&Person::meet_at>("mine", "never");
  person().call<&Person::wait_for_key>("mine").get();
  actor.kill(10ms);
  EXPECT_THAT(next(watch).cause, HasSubstr("and killed: it had not left within 10 ms"));
  EXPECT_EQ(error_of(waits).code, Code::MaybeRan);
}

TEST_P(Conformance, OneThatLeavesIsNotRestarted) {
  const auto actor = person({.max_restarts = 5});
  Watch watch = rt::watch(actor);
  actor.call<&Person::leave>().get();
  const ActorDeath death = next(watch);
  EXPECT_EQ(death.kind, DeathKind::Left);
  EXPECT_FALSE(death.will_restart);
}

TEST_P(Conformance, AWatchTellsWhoKilledAlsoWhereItBeganTooLate) {
  const auto victim = person(), killer = person({.name = "killer"});
  killer.call<&Person::kill>(victim).get();
  EXPECT_NE(error_of(victim.call<&Person::wait_for_key>("never")).code, Code::Failed);
  Watch watch = rt::watch(victim);
  EXPECT_THAT(next(watch).killed_by, StartsWith("actor 'killer' (conformance::Person"));
}

TEST_P(Conformance, ChildrenEndWithTheirParentUnlessTheyAreDetached) {
  const auto parent = person({.name = "parent", .name_space = "family"});
  const auto child = parent.call<&Person::spawn_child>("child", false).get();
  const auto stranger = parent.call<&Person::spawn_child>("stranger", true).get();
  EXPECT_EQ(stranger.call<&Person::value>().get(), 1);
  Watch watch = rt::watch(child);
  parent.call<&Person::leave>().get();
  const ActorDeath death = next(watch);
  EXPECT_EQ(death.kind, DeathKind::ParentEnded);
  EXPECT_THAT(death.cause, HasSubstr("its parent, actor 'parent'"));
  EXPECT_EQ(cluster->get_actor<Person>("stranger", "family").get().call<&Person::value>().get(), 1);
}

// --- restarts ----------------------------------------------------------------------------------------------------

TEST_P(Conformance, AConstructorThatThrowsIsToldByTheFirstCallAndByAWatch) {
  const auto actor = person({}, -1);
  EXPECT_THAT(error_of(actor.call<&Person::value>()).message, HasSubstr("the constructor threw: nobody begins at -1"));
  Watch watch = rt::watch(actor);
  EXPECT_EQ(next(watch).kind, DeathKind::ConstructorThrew);
}

TEST_P(Conformance, ARestartedActorAnswersByTheSameHandle) {
  const auto actor = cluster->spawn<Fragile>({.max_restarts = 3, .restart_delay = 1ms}, std::uint32_t{2});
  Watch watch = rt::watch(actor);
  EXPECT_TRUE(next(watch).will_restart);
  EXPECT_TRUE(next(watch).will_restart);
  EXPECT_EQ(actor.call<&Fragile::incarnation>().result(kLimit).get(), 3u);
}

TEST_P(Conformance, ACrashLoopIsGivenUpAndShowsItsFirstError) {
  const auto actor = cluster->spawn<Fragile>({.max_restarts = 2, .restart_delay = 1ms}, std::uint32_t{9});
  Watch watch = rt::watch(actor);
  while (next(watch).will_restart) {
  }
  EXPECT_THAT(error_of(actor.call<&Fragile::incarnation>()).message,
              AllOf(HasSubstr("given up after 2 restarts; the first failure: the constructor threw: incarnation 1 is "),
                    HasSubstr("the last: the constructor threw: incarnation 3 is too weak")));
}

TEST_P(Conformance, RestForOneRestartsThoseThatWereSpawnedLater) {
  Supervisor family = cluster->supervise({.strategy = Strategy::RestForOne});
  const auto a = family.spawn<Fragile>({.name = "a"}, std::uint32_t{0});
  EXPECT_EQ(a.call<&Fragile::incarnation>().get(), 1u);
  const auto b = family.spawn<Fragile>({.name = "b"}, std::uint32_t{1});
  const auto c = family.spawn<Fragile>({.name = "c"}, std::uint32_t{0});
  Watch watch = rt::watch(b);
  EXPECT_TRUE(next(watch).will_restart);
  EXPECT_EQ(b.call<&Fragile::incarnation>().result(kLimit).get(), 2u);
  EXPECT_EQ(a.call<&Fragile::incarnation>().get(), 1u);
  EXPECT_TRUE(eventually([&] { return bool(c.call<&Fragile::incarnation>().result(kLimit)); }));
}

}  // namespace
}  // namespace rt::testing
