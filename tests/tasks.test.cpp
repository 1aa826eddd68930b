// Tasks: functions on pooled worker processes.
#include <gmock/gmock.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <set>

#include "rt/runtime/store/store.h"
#include "rt/tests/support/cluster_test.h"

namespace tasks_test {

inline int add(int a, int b) { return a + b; }
inline int add(int a, int b, int c) { return a + b + c; }
inline int pid() { return ::getpid(); }
inline void fail(const std::string& why) { throw std::out_of_range(why); }
struct Shapes {
  static double area(double side) { return side * side; }
};
inline std::vector<double> numbers(std::size_t count) {
  std::vector<double> values(count);
  std::iota(values.begin(), values.end(), 0.0);
  return values;
}
inline double sum(std::span<const double> values) { return std::accumulate(values.begin(), values.end(), 0.0); }
inline rt::Ref<std::vector<double>> put(std::size_t count) { return rt::self().put(numbers(count)); }

inline int depth(int left) { return left == 0 ? 0 : 1 + rt::self().run<&depth>(left - 1).get(); }
inline long fib(int n) {
  if (n < 2) return n;
  const auto a = rt::self().run<&fib>(n - 1), b = rt::self().run<&fib>(n - 2);
  return a.get() + b.get();
}
// Dies as often as there are no more than so many lines in the file yet.
inline int die_at_first(std::string file, int times) {
  std::ofstream(file, std::ios::app) << "begun\n" << std::flush;
  std::ifstream in(file);
  int lines = 0;
  for (std::string line; std::getline(in, line);) ++lines;
  if (lines <= times) ::raise(SIGKILL);
  return lines;
}
inline int wait_for(std::string file) {
  while (::access(file.c_str(), F_OK) != 0) ::poll(nullptr, 0, 1);
  return ::getpid();
}
inline int say_and_wait(std::string begun, std::string file) {
  std::ofstream{begun};
  return wait_for(file);
}
inline std::string gpus() { return std::getenv("CUDA_VISIBLE_DEVICES") ? std::getenv("CUDA_VISIBLE_DEVICES") : ""; }

class Asker {
 public:
  int ask() { return rt::self().run<static_cast<int (*)(int, int)>(&add)>(20, 3).get(); }
};

}  // namespace tasks_test

namespace rt::testing {
namespace {

using namespace tasks_test;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr auto kAdd = static_cast<int (*)(int, int)>(&add);
constexpr auto kAddThree = static_cast<int (*)(int, int, int)>(&add);

class Tasks : public ClusterTest {
 protected:
  explicit Tasks(int cpus = 2) : ClusterTest({.cpus = cpus, .simulate_gpus = 1}) {}
  std::string file(const char* name) { return (sandbox / name).string(); }
};
class OnOneSlot : public Tasks {
 protected:
  OnOneSlot() : Tasks(1) {}
};

TEST_F(Tasks, RunFreeAndStaticFunctions) {
  EXPECT_EQ(cluster->run<kAdd>(2, 3).get(), 5);
  EXPECT_EQ(cluster->run<kAddThree>(2, 3, 4).get(), 9);
  EXPECT_EQ(cluster->run<&Shapes::area>(3).get(), 9);
  EXPECT_NE(cluster->run<&tasks_test::pid>().get(), ::getpid());
}

TEST_F(Tasks, RunManyOnAsManyProcessesAsThereAreSlots) {
  std::vector<Future<int>> answers;
  for (int i = 0; i < 2000; ++i) answers.push_back(cluster->run<kAdd>(i, i));
  for (int i = 0; i < 2000; ++i) EXPECT_EQ(answers[static_cast<std::size_t>(i)].get(), 2 * i);
  std::vector<Future<int>> pids;
  std::set<int> all;
  for (int i = 0; i < 200; ++i) pids.push_back(cluster->run<&tasks_test::pid>());
  for (const auto& one : pids) all.insert(one.get());
  EXPECT_LE(all.size(), 2u);
}

TEST_F(Tasks, BeginWhenTheirArgumentsAreThere) {
  const auto made = cluster->run<&numbers>(std::size_t{100'000});
  const auto total = cluster->run<&sum>(made);
  const auto ref = cluster->run<&tasks_test::put>(std::size_t{100'000});
  const auto same = cluster->run<&sum>(ref);
  EXPECT_EQ(total.get(), 4'999'950'000.0);
  EXPECT_EQ(same.get(), 4'999'950'000.0);
  EXPECT_EQ(cluster->run<&sum>(cluster->put(numbers(10))).get(), 45);
  const auto three = cluster->run<kAdd>(1, 2);
  EXPECT_EQ(cluster->run<kAddThree>(three, three, 10).get(), 16);
}

TEST_F(Tasks, FailWithWhatTheyDependOn) {
  const auto failed = cluster->run<&Shapes::area>(cluster->run<&Shapes::area>(2.0));
  EXPECT_EQ(failed.get(), 16);
  const auto broken = cluster->tasks({.cpus = 1}).run<&die_at_first>(file("diary"), 100);
  const Error error = error_of(cluster->run<kAdd>(broken, 1));
  EXPECT_EQ(error.code, Code::MaybeRan);
  EXPECT_THAT(error.message, AllOf(HasSubstr("a task's argument failed"), HasSubstr("signal 9")));
}

TEST_F(Tasks, RunAgainAfterTheDeathOfTheirProcessAsOftenAsTheyMay) {
  EXPECT_EQ(cluster->tasks({.retries = 3}).run<&die_at_first>(file("three"), 3).get(), 4);
  EXPECT_EQ(error_of(cluster->tasks({.retries = 2}).run<&die_at_first>(file("two"), 3)).code, Code::MaybeRan);
  EXPECT_EQ(error_of(cluster->run<&die_at_first>(file("none"), 1)).code, Code::MaybeRan);
  EXPECT_EQ(cluster->run<kAdd>(1, 1).get(), 2);
}

TEST_F(Tasks, EndByTheirDeadlineAlsoWhereTheyWaitForASlot) {
  const auto one = cluster->run<&wait_for>(file("go")), two = cluster->run<&wait_for>(file("go"));
  const auto late = cluster->tasks({.deadline = std::chrono::milliseconds(50)}).run<kAdd>(1, 1);
  EXPECT_EQ(error_of(late).code, Code::Deadline);
  const auto given_up = cluster->run<kAdd>(1, 1);
  given_up.cancel();
  EXPECT_EQ(error_of(given_up).code, Code::Cancelled);
  std::ofstream{file("go")};
  EXPECT_NE(one.get(), two.get());
}

TEST_F(Tasks, ThatAreTooLargeForTheClusterAreRefused) {
  EXPECT_THAT(error_of(cluster->tasks({.cpus = 3}).run<kAdd>(1, 1)).message, HasSubstr("can never be placed"));
}

TEST_F(Tasks, HoldGpusWhileTheyRun) {
  EXPECT_EQ(cluster->tasks({.gpus = 1}).run<&gpus>().get(), "simulated-0");
  EXPECT_EQ(cluster->tasks({.gpus = 1}).run<&gpus>().get(), "simulated-0") << "it came back";
  EXPECT_EQ(cluster->run<&gpus>().get(), "");
}

TEST_F(Tasks, AreRunByActorsToo) {
  auto asker = cluster->spawn<Asker>();
  EXPECT_EQ(asker.call<&Asker::ask>().get(), 23);
}

TEST_F(Tasks, OnTwoSlotsForkAndJoin) { EXPECT_EQ(cluster->run<&fib>(12).get(), 144); }

TEST_F(OnOneSlot, WaitForTheTasksThatTheyStartedTwentyDeep) { EXPECT_EQ(cluster->run<&depth>(20).get(), 20); }

TEST_F(OnOneSlot, GiveTheSlotBackWhenTheyAreIdle) {
  EXPECT_EQ(cluster->run<kAdd>(1, 1).get(), 2);
  auto asker = cluster->spawn<Asker>({.cpus = 1});
  EXPECT_TRUE(eventually([&] { return cluster->totals().get().free_cpus == 0; }));
  asker.kill();
  EXPECT_EQ(cluster->run<kAdd>(1, 1).get(), 2);
}

TEST_F(OnOneSlot, OfACallerThatDiedEnd) {
  auto asker = cluster->spawn<Asker>();
  EXPECT_EQ(asker.call<&Asker::ask>().get(), 23);
  asker.kill();
  EXPECT_EQ(cluster->run<kAdd>(1, 1).get(), 2);
}

TEST_F(Tasks, LeaveNoObjectsBehind) {
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(cluster->run<&sum>(cluster->run<&numbers>(std::size_t{100'000})).get(), 4'999'950'000.0);
  EXPECT_TRUE(eventually([&] { return static_cast<Store*>(cluster->client().large())->used() == 0; }));
}

// The processes of tasks, and then the broker, are killed while tasks run: each future ends, and right.
TEST_F(Tasks, SurviveKillsOfTheirProcesses) {
  std::vector<Future<int>> answers;
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 100; ++i) answers.push_back(cluster->tasks({.retries = 20}).run<kAdd>(i, round));
    for (const ActorFacts& actor : cluster->list_actors().get())
      if (actor.pid > 0 && (round % 2 == 0 || actor.name_space == "rt.tasks")) ::kill(actor.pid, SIGKILL);
  }
  for (std::size_t i = 0; i < answers.size(); ++i)
    EXPECT_EQ(answers[i].result(kLimit).get(), static_cast<int>(i % 100 + i / 100));
}

}  // namespace
}  // namespace rt::testing
