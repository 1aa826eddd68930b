// How actors are set up: what their options say of their process, what they hold, how they are found. (The program's
// main is supervision.test.cpp's.)
#include "rt/tests/support/supervised.h"

namespace rt::testing {
namespace {

using namespace std::chrono_literals;
using namespace supervision_test;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// --- options -----------------------------------------------------------------------------------------------------

TEST_F(Supervision, AnActorKnowsWhoItIsAndRunsAsItsOptionsSay) {
  const auto actor = spawn({.name = "worker",
                            .cpuset = {0},
                            .threads = 3,
                            .environment = {"MODE=fast"},
                            .directory = sandbox.path().native()});
  const Facts facts = actor.call<&Worker::facts>().get();
  EXPECT_EQ(facts.id, actor.id());
  EXPECT_EQ(facts.incarnation, 1u);
  EXPECT_EQ(facts.node, 1u);
  EXPECT_EQ(facts.threads, 3u);
  EXPECT_EQ(facts.name, "worker");
  EXPECT_EQ(facts.name_space, "test");
  EXPECT_EQ(std::filesystem::canonical(facts.directory), std::filesystem::canonical(sandbox.path()));
  EXPECT_EQ(facts.mode, "fast");
  EXPECT_THAT(facts.pinned, ElementsAre(0));
  EXPECT_THAT(facts.cpuset, ElementsAre(0));
}

TEST_F(Supervision, ACoreThatThisMachineDoesNotHaveIsRefusedByName) {
  Watch watch = rt::watch(spawn({.cpuset = {0, 1000}}));
  EXPECT_THAT(next(watch).last_lines, HasSubstr("cannot be pinned to the cores 0,1000"));
}

TEST_F(Supervision, ItsLogHasItsNameInIt) {
  const std::string log = (sandbox / "log").string();
  const auto actor = spawn({.name = "worker", .log = log});
  actor.call<&Worker::say>("the loss is nan").get();
  std::ifstream in(log);
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  EXPECT_THAT(text, HasSubstr(" worker] warning: the loss is nan"));
}

TEST_F(Supervision, MemoryAndNamedResourcesAreReservedUntilTheActorEnds) {
  const auto first = spawn({.memory = 600 << 20, .resources = {{"licence", 1}}});
  first.call<&Worker::pid>().get();
  EXPECT_EQ(cluster->totals()->free_memory, std::uint64_t{424} << 20);
  const auto second = spawn({.memory = 600 << 20});
  const auto third = spawn({.resources = {{"licence", 1}}});
  const auto waiting = second.call<&Worker::pid>();
  EXPECT_FALSE(waiting.ready());
  first.kill();
  EXPECT_TRUE(waiting.result(kLimit));
  EXPECT_TRUE(third.call<&Worker::pid>().result(kLimit));
}

TEST_F(Supervision, WhatNoNodeCanEverHoldIsRefusedWithWhatItLacks) {
  EXPECT_THAT(error_of(spawn({.memory = std::uint64_t{3} << 30}).call<&Worker::pid>()).message,
              HasSubstr("(4 CPUs, 0 GPUs, 1.0 GiB memory, 1 licence), lacks 2.0 GiB memory"));
  Watch watch = rt::watch(spawn({.resources = {{"quantum", 2}}}));
  const ActorDeath death = next(watch);
  EXPECT_EQ(death.kind, DeathKind::NotStarted);
  EXPECT_THAT(death.cause, HasSubstr("lacks 2 quantum"));
}

// --- names -------------------------------------------------------------------------------------------------------

TEST_F(Supervision, ItsMethodsRunBesideEachOtherOnAsManyThreadsAsItHas) {
  const auto actor = spawn({.concurrency = 2});
  const auto works = actor.call<&Worker::work_until_asked_to_stop>();
  EXPECT_GT(actor.call<&Worker::pid>().result(kLimit).get(), 0);
  EXPECT_FALSE(works.ready());
  actor.kill(10s);
  EXPECT_EQ(works.result(kLimit).get(), 42) << "it leaves when its threads have done";
}

TEST_F(Supervision, ThreadsBeyondReasonAreRefused) {
  EXPECT_THAT(spawn({.concurrency = 100'000}).call<&Worker::pid>().result(kLimit).error().message,
              HasSubstr("may have 1024 threads in a group, not 100000"));
  EXPECT_THAT(spawn({.groups = {{"io", 1}, {"io", 2}}}).call<&Worker::pid>().result(kLimit).error().message,
              HasSubstr("two thread groups named 'io'"));
}

// Whoever calls it keeps to them, also who found it by its name.
TEST_F(Supervision, ItsCallsHaveItsDeadlineAndItsBound) {
  const auto actor = spawn({.name = "bounded", .call_deadline = 50ms, .max_pending_calls = 1, .concurrency = 2});
  const auto found = cluster->get_actor<Worker>("bounded").get();
  EXPECT_EQ(actor.call<&Worker::work_until_asked_to_stop>().result(kLimit).error().code, Code::Deadline);
  const auto refused = found.call<&Worker::pid>().result(kLimit);
  ASSERT_FALSE(refused) << "the first one still runs";
  EXPECT_EQ(refused.error().code, Code::Unavailable);
  EXPECT_THAT(refused.error().message, HasSubstr("its max_pending_calls is 1"));
}

// --- memory ------------------------------------------------------------------------------------------------------

TEST_F(Supervision, OverItsMemoryLimitItIsKilledWithTheFigureSaid) {
  const auto actor = spawn({.memory_limit = 100 << 20});
  Watch watch = rt::watch(actor);
  actor.call<&Worker::use_memory>(200 << 20);
  const ActorDeath death = next(watch);
  EXPECT_EQ(death.kind, DeathKind::OutOfMemory);
  EXPECT_THAT(death.cause, AllOf(HasSubstr("out of memory: it used "), HasSubstr(" MiB, its limit is 100 MiB")));
  EXPECT_GT(death.memory_used, std::uint64_t{100} << 20);
  EXPECT_EQ(death.memory_limit, std::uint64_t{100} << 20);
}

}  // namespace
}  // namespace rt::testing
