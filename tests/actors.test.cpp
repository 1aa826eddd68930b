// Actors in processes of their own, by the library that people use. This program is its own job program: a worker never
// gets past the first statement of main.
#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <future>
#include <set>
#include <stop_token>

#include "rt/runtime/net/unix_socket.h"
#include "rt/tests/support/cluster_test.h"

// Actors' classes have names that every process spells alike: none of them is in an anonymous namespace.
namespace actors_test {

class Patient {
 public:
  explicit Patient(int start) : n_(start) {
    if (start < 0) throw std::invalid_argument("no patient begins at " + std::to_string(start));
  }
  int add(int by) { return n_ += by; }
  int fail(std::string why) { throw std::runtime_error(why); }
  int leave(int code) {
    std::fprintf(stderr, "leaving with %d\n", code);
    std::_Exit(code);
  }
  int raise(int signal) { return ::raise(signal); }
  int linger() { return ::pause(); }
  void rest_until_cancelled() {
    std::atomic<bool> is_over{false};
    const std::stop_callback end(rt::this_call().stop_token(), [&] {
      is_over = true;
      is_over.notify_one();
    });
    is_over.wait(false);
  }
  int pid() { return ::getpid(); }
  std::string echo(std::string text) { return text; }

  // A process in a session of its own, without a parent here.
  void leave_a_daemon() {
    if (::fork() != 0) return;
    ::setsid();
    if (::fork() == 0) ::pause();
    std::_Exit(0);
  }

 private:
  int n_ = 0;
};

class Nurse {
 public:
  void take_on(rt::Actor<Patient> patient) { patient_ = patient; }
  rt::Task<int> feed_gently(int by) { co_return co_await patient_.call<&Patient::add>(by); }
  int feed(int by) { return patient_.call<&Patient::add>(by).get(); }

 private:
  rt::Actor<Patient> patient_;
};

inline rt::Task<int> sum_of(std::vector<rt::Actor<Patient>> patients) {
  int sum = 0;
  for (const auto& patient : patients) sum += co_await patient.call<&Patient::add>(1);
  co_return sum;
}

}  // namespace actors_test

namespace rt::testing {
namespace {

using namespace actors_test;
using ::testing::AllOf;
using ::testing::HasSubstr;

class Actors : public ClusterTest {
 protected:
  Actors() : ClusterTest({.cpus = 4}) {}

  // The processes with an actor or forked ahead for one: each listens in the run folder, under its number.
  std::set<pid_t> workers() {
    std::set<pid_t> pids;
    for (const auto& entry : std::filesystem::directory_iterator(cluster->client().run_folder() + "/actors")) {
      const std::string name = entry.path().filename();
      pids.insert(std::stoi(name.substr(name.find('-') + 1)));
    }
    return pids;
  }
  bool are_forked_ahead(std::size_t actors) {
    constexpr std::size_t kAhead = 8;
    return eventually([&] { return workers().size() == actors + kAhead; });
  }
};

TEST_F(Actors, CoroutinesAwaitCallsInADriverAndInAnActor) {
  std::vector<Actor<Patient>> patients;
  for (int i = 0; i < 3; ++i) patients.push_back(cluster->spawn<Patient>({}, 10 * i));
  EXPECT_EQ(cluster->wait(sum_of(patients)), 1 + 11 + 21);

  auto nurse = cluster->spawn<Nurse>();
  nurse.call<&Nurse::take_on>(patients.front()).get();
  EXPECT_EQ(nurse.call<&Nurse::feed_gently>(5).get(), 6);
  patients.front().kill();
  (void)error_of(patients.front().call<&Patient::linger>());  // it is dead now
  EXPECT_EQ(error_of(nurse.call<&Nurse::feed_gently>(5)).code, Code::Failed) << "what the nurse's own call threw";
}

TEST_F(Actors, ACallPastItsDeadlineIsGivenUpWhileTheActorLivesOn) {
  auto patient = cluster->spawn<Patient>({}, 0);
  const auto asleep = patient.within(std::chrono::milliseconds(50)).call<&Patient::rest_until_cancelled>();
  EXPECT_EQ(error_of(asleep).code, Code::Deadline);
  EXPECT_EQ(patient.call<&Patient::add>(1).get(), 1);
}

TEST_F(Actors, ADeathNoticeSaysWhatItDiedOf) {
  std::promise<ActorDeath> told;
  cluster->on_death([&](const ActorDeath& death) { told.set_value(death); });
  auto patient = cluster->spawn<Patient>({}, 1);
  const Error error = error_of(patient.call<&Patient::leave>(3));
  EXPECT_EQ(error.code, Code::MaybeRan);
  EXPECT_THAT(error.message, AllOf(HasSubstr("exit code 3"), HasSubstr("leaving with 3")));

  auto future = told.get_future();
  ASSERT_EQ(future.wait_for(kLimit), std::future_status::ready);
  const ActorDeath death = future.get();
  EXPECT_EQ(death.actor, patient.id());
  EXPECT_EQ(death.exit_code, 3);
  EXPECT_EQ(death.signal, 0);
  EXPECT_FALSE(death.killed);
  EXPECT_THAT(death.last_lines, HasSubstr("leaving with 3"));
}

TEST_F(Actors, ASignalIsNamedAndLaterCallsAreNotSent) {
  auto patient = cluster->spawn<Patient>({}, 1);
  const Error error = error_of(patient.call<&Patient::raise>(SIGKILL));
  EXPECT_EQ(error.code, Code::MaybeRan);
  EXPECT_THAT(error.message, HasSubstr("signal 9 (SIGKILL)"));

  const Error later = error_of(patient.call<&Patient::add>(1));
  EXPECT_EQ(later.code, Code::NotSent);
  EXPECT_THAT(later.message, HasSubstr("signal 9 (SIGKILL)"));
}

TEST_F(Actors, AKillEndsACallUnderWay) {
  auto patient = cluster->spawn<Patient>({}, 1);
  const int pid = patient.call<&Patient::pid>().get();
  const auto asleep = patient.call<&Patient::linger>();
  patient.kill();
  EXPECT_EQ(error_of(asleep).code, Code::MaybeRan);
  EXPECT_NE(::kill(pid, 0), 0);
}

TEST_F(Actors, ANewIncarnationAnswersWithoutTheOldOnesState) {
  auto patient = cluster->spawn<Patient>({.max_restarts = 1}, 10);
  EXPECT_EQ(patient.call<&Patient::add>(5).get(), 15);
  EXPECT_EQ(error_of(patient.call<&Patient::raise>(SIGSEGV)).code, Code::MaybeRan);
  EXPECT_EQ(patient.call<&Patient::add>(1).get(), 11);
  EXPECT_EQ(error_of(patient.call<&Patient::raise>(SIGSEGV)).code, Code::MaybeRan);
  EXPECT_EQ(error_of(patient.call<&Patient::add>(1)).code, Code::NotSent);
}

TEST_F(Actors, CallEachOtherThroughHandlesThatTheyWereGiven) {
  auto patient = cluster->spawn<Patient>({}, 10);
  auto nurse = cluster->spawn<Nurse>();
  nurse.call<&Nurse::take_on>(patient).get();
  EXPECT_EQ(nurse.call<&Nurse::feed>(3).get(), 13);
  EXPECT_EQ(patient.call<&Patient::add>(0).get(), 13);

  EXPECT_EQ(error_of(patient.call<&Patient::leave>(4)).code, Code::MaybeRan);
  EXPECT_THAT(error_of(nurse.call<&Nurse::feed>(1)).message, HasSubstr("exit code 4"));
}

TEST_F(Actors, TakeAndReturnLargeArguments) {
  auto patient = cluster->spawn<Patient>({}, 0);
  std::string large(64 << 20, 'a');
  for (std::size_t i = 0; i < large.size(); i += 4096) large[i] = static_cast<char>('a' + i / 4096 % 26);
  EXPECT_TRUE(patient.call<&Patient::echo>(large).get() == large);
}

TEST_F(Actors, WhatAnActorStartedDiesWithIt) {
  auto patient = cluster->spawn<Patient>({}, 0);
  patient.call<&Patient::add>(1).get();
  ASSERT_TRUE(are_forked_ahead(1));
  const std::size_t before = sandbox.processes().size();
  patient.call<&Patient::leave_a_daemon>().get();
  ASSERT_TRUE(eventually([&] { return sandbox.processes().size() == before + 1; }));
  patient.kill();
  EXPECT_TRUE(eventually([&] { return sandbox.processes().size() == before - 1; }));
}

TEST_F(Actors, ProcessesForkedAheadAreTakenAndMayDie) {
  auto first = cluster->spawn<Patient>({}, 0);
  const pid_t own = first.call<&Patient::pid>().get();
  ASSERT_TRUE(are_forked_ahead(1));
  const std::set<pid_t> ahead = workers();
  const pid_t taken = cluster->spawn<Patient>({}, 0).call<&Patient::pid>().get();
  EXPECT_NE(taken, own);
  EXPECT_TRUE(ahead.contains(taken));
  for (const pid_t pid : workers())
    if (pid != own) ::kill(pid, SIGKILL);
  // One may be given an actor before its death is known: that is restarted.
  for (int i = 0; i < 12; ++i) {
    auto next = cluster->spawn<Patient>({.max_restarts = 20, .restart_delay = std::chrono::milliseconds(1)}, i);
    EXPECT_TRUE(eventually([&] { return bool(next.call<&Patient::pid>().result()); }));
  }
  EXPECT_EQ(first.call<&Patient::add>(1).get(), 1);
}

TEST_F(Actors, AProcessThatNobodyAwaitsIsTurnedAway) {
  cluster->spawn<Patient>({}, 0).call<&Patient::add>(1).get();
  ASSERT_TRUE(are_forked_ahead(1));
  const Fd agent = connect_unix_socket(cluster->client().run_folder() + "/node.sock").get();
  const auto joined = rt::detail::say_hello(agent.get(), {.program = {"/bin/stranger", "00"}});
  ASSERT_FALSE(joined);
  EXPECT_EQ(joined.error().code, Code::Refused);
  EXPECT_THAT(joined.error().message, HasSubstr("no process of the program /bin/stranger is awaited here"));
}

TEST_F(Actors, CallsEndWhenTheNodesAgentIsKilled) {
  auto patient = cluster->spawn<Patient>({}, 0);
  patient.call<&Patient::add>(1).get();
  const auto asleep = patient.call<&Patient::linger>();
  for (const pid_t pid : sandbox.processes_named("rtd")) ::kill(pid, SIGKILL);
  EXPECT_EQ(error_of(asleep).code, Code::MaybeRan);
  EXPECT_THAT(error_of(asleep).message, HasSubstr("rtd"));
  EXPECT_EQ(error_of(patient.call<&Patient::add>(1)).code, Code::NotSent);
  EXPECT_TRUE(eventually([&] { return sandbox.processes().empty(); })) << sandbox.leftovers();
}

class Programs : public ::testing::Test {
 protected:
  Ended run(const std::string& program, const std::vector<std::string>& environment = {}) {
    const Ended ended = sandbox.start({program}, environment).wait();
    EXPECT_EQ(ended.exit_code, 0) << ended.output << ended.errors;
    EXPECT_TRUE(eventually([&] { return sandbox.processes().empty(); }, std::chrono::seconds(4)))
        << sandbox.leftovers();
    return ended;
  }
  Sandbox sandbox;
};

TEST_F(Programs, OneWithASecondThreadIsRefusedAndTheThreadIsNamed) {
  EXPECT_THAT(run(std::string(RT_BUILD_DIR) + "/test-bin/threaded").output, HasSubstr("early-bird"));
}

TEST_F(Programs, TheCounterExampleSaysWhatItsReaderExpects) {
  EXPECT_THAT(run(built_program("counter")).output,
              AllOf(HasSubstr("10 + 5 = 15\nthen 16 and 17\nit threw: a counter only grows, not by -1 (std::"),
                    HasSubstr("and lives on: 17\nMaybeRan: "), HasSubstr("signal 6 (SIGABRT)")));
}

TEST_F(Programs, TheRingExampleGoesThroughFourProcesses) {
  EXPECT_EQ(run(built_program("ring")).output, "the token went through 4 processes\n");
}

TEST_F(Programs, TheParameterServerExampleFindsTheLine) {
  EXPECT_EQ(run(built_program("parameter_server")).output, "y = 3.00 x + 1.00\n");
}

TEST_F(Programs, ThePipelineExampleKeepsFewUnderWay) {
  EXPECT_EQ(run(built_program("pipeline")).output, "1600 letters, at most 8 items at once in the middle\n");
}

TEST_F(Programs, TheSupervisedExampleGoesOnAfterItsParsersCrash) {
  EXPECT_EQ(run(built_program("supervised")).output,
            "sum 7\n"
            "lost 'crash': the parser died under it\n"
            "lost 'three': it threw\n"
            "the parser died of signal 6 (SIGABRT) and runs for the 2nd time; the reader runs for the 1st\n");
}

TEST_F(Programs, TheExamplesSayTheSameInline) {
  const std::vector<std::string> is_inline{"RT_LOCAL=inline"};
  for (const char* example : {"ring", "parameter_server", "pipeline"})
    EXPECT_EQ(run(built_program(example), is_inline).output, run(built_program(example)).output) << example;
  const Ended counter = sandbox.start({built_program("counter")}, is_inline).wait();
  EXPECT_EQ(counter.signal, SIGABRT) << "an actor that crashes takes the one process";
  const std::string whole = run(built_program("counter")).output;
  // But for what names processes and the crash itself.
  const auto until = [](const std::string& text) { return text.substr(0, text.find(" (std::")); };
  EXPECT_EQ(until(counter.output), until(whole));
  EXPECT_THAT(counter.output, HasSubstr("and lives on: 17\n"));
}

}  // namespace
}  // namespace rt::testing
