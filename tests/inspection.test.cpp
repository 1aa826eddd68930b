// rtctl actors, actor and stack: what a person is told of a cluster that runs. This program is the cluster's driver and
// its own job program.
#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <regex>

#include "rt/actors/inspection.h"
#include "rt/tests/support/cluster_test.h"

namespace inspection_test {

class Worker {
 public:
  explicit Worker(std::string trouble) {
    if (trouble == "first" && rt::self().incarnation() == 1) throw std::runtime_error("no such table: weights");
    if (trouble == "never") dig_for_ever();
  }
  int pid() { return ::getpid(); }
  [[gnu::noinline]] void dig_for_ever() {
    while (steps_ >= 0) steps_ = (steps_ + 1) % 1000003;
  }
  [[gnu::noinline]] void sort_for_ever() {
    while (steps_ >= 0) {
      std::vector<std::string> lines(50, std::string(100, 'x'));
      std::sort(lines.begin(), lines.end());
      steps_ = steps_ + 1;
    }
  }
  void leave() { rt::self().leave(); }
  void wait_for(rt::Actor<Worker> other) { other.call<&Worker::pid>().get(); }

 private:
  volatile int steps_ = 0;
};

}  // namespace inspection_test

namespace rt::testing {
namespace {

using inspection_test::Worker;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Inspection : public ClusterTest {
 protected:
  Inspection() : ClusterTest({.cpus = 2, .name_space = "test"}) {}
  Actor<Worker> spawn(const SpawnOptions& options, const std::string& trouble = "") {
    return cluster->spawn<Worker>(options, trouble);
  }
  // A method under way of `name`.
  template <auto M>
  Actor<Worker> busy(std::string_view name) {
    const auto actor = spawn({.name = name});
    actor.call<&Worker::pid>().get();
    actor.call<M>();
    EXPECT_TRUE(eventually([&] { return json({"actor", std::string(name)})["running"].size() == 1; }));
    return actor;
  }
  std::string said(std::vector<std::string> arguments) const {
    const Ended ended = sandbox.run_rtctl(arguments);
    EXPECT_EQ(ended.exit_code, 0) << ended.output << ended.errors;
    return ended.output;
  }
  nlohmann::json json(std::vector<std::string> arguments) const {
    arguments.push_back("--json");
    return nlohmann::json::parse(said(arguments), nullptr, false);
  }
  void expect_refused(std::vector<std::string> arguments, const std::string& why) const {
    const Ended ended = sandbox.run_rtctl(arguments);
    EXPECT_EQ(ended.exit_code, 2) << ended.output;
    EXPECT_THAT(ended.errors, HasSubstr(why));
  }
};

TEST_F(Inspection, ActorsAreListedAsATableThatFitsAndAsJson) {
  const auto one = spawn({.name = "one"}), other = spawn({.name_space = "other"});
  const int pid = one.call<&Worker::pid>().get();
  other.call<&Worker::pid>().get();
  spawn({.name = "waiting", .cpus = 2}), spawn({.name = "waiting too", .cpus = 2});
  const std::string table = said({"actors"});
  EXPECT_THAT(table, AllOf(HasSubstr("ID"), HasSubstr("one"), HasSubstr("inspection_test::Worker"),
                           HasSubstr("running"), HasSubstr("pending"), HasSubstr(std::to_string(pid))));
  std::stringstream lines(table);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;

  const auto listed = json({"actors", "--namespace", "test"});
  ASSERT_EQ(listed.size(), 3u) << listed;
  EXPECT_EQ(listed[0]["name"], "one");
  EXPECT_EQ(listed[0]["pid"], pid);
  EXPECT_EQ(listed[0]["state"], "running");
  EXPECT_EQ(listed[2]["state"], "pending");
}

TEST_F(Inspection, AnActorIsToldByNameOrNumberWithWhatItDoesAndWhatWaits) {
  const auto digger = busy<&Worker::dig_for_ever>("digger");
  for (int i = 0; i < 3; ++i) digger.call<&Worker::pid>();
  const auto waiter = spawn({.name = "waiter"});
  waiter.call<&Worker::wait_for>(digger);
  nlohmann::json facts;
  EXPECT_TRUE(eventually([&] {
    facts = json({"actor", std::to_string(digger.id())});
    return facts["pending"] == 4;
  })) << facts;
  EXPECT_EQ(facts["running"][0]["method"], "inspection_test::Worker::dig_for_ever");
  EXPECT_GT(facts["running"][0]["seconds"], 0);
  EXPECT_EQ(json({"actor", "waiter"})["waits_for"][0]["actor"], digger.id());
  EXPECT_THAT(said({"actor", "digger"}),
              AllOf(HasSubstr("'digger'"), HasSubstr("runs now      inspection_test::Worker::dig_for_ever, for "),
                    HasSubstr("pending       4 calls"), HasSubstr("parent        the driver (pid "),
                    HasSubstr("/logs/actor-" + std::to_string(digger.id()) + ".log")));
}

TEST_F(Inspection, ItsLastErrorIsShownAlsoAfterItsEnd) {
  const auto fragile = spawn({.name = "fragile", .max_restarts = 1}, "first");
  EXPECT_TRUE(eventually([&] { return bool(fragile.call<&Worker::pid>().result(kLimit)); }));
  const auto facts = json({"actor", "fragile"});
  EXPECT_EQ(facts["restarts"], 1);
  EXPECT_EQ(facts["last_error"], "the constructor threw: no such table: weights");
  Watch watch = rt::watch(fragile);
  fragile.call<&Worker::leave>().get();
  while (watch.next(kLimit)->will_restart) {
  }
  EXPECT_EQ(json({"actor", std::to_string(fragile.id())})["last_error"], "it left");
  expect_refused({"actor", "fragile"}, "no living actor has the name or number fragile; rtctl actors lists");
}

TEST_F(Inspection, AMethodThatLoopsForEverIsInTheStack) {
  const auto digger = busy<&Worker::dig_for_ever>("digger");
  EXPECT_THAT(said({"stack", "digger"}),
              AllOf(HasSubstr("actor " + std::to_string(digger.id()) + " 'digger' (inspection_test::Worker), pid "),
                    HasSubstr(" (its methods)\n  #0  inspection_test::Worker::dig_for_ever() in ")));
  const auto threads = json({"stack", "digger"})["threads"];
  EXPECT_EQ(threads.size(), 2u) << threads;
}

TEST_F(Inspection, AConstructorThatNeverEndsIsInTheStack) {
  spawn({.name = "stuck"}, "never");
  EXPECT_TRUE(eventually([&] { return json({"actors"})[0]["pid"] != 0; }));
  EXPECT_THAT(said({"stack", "stuck"}), HasSubstr("inspection_test::Worker::dig_for_ever()"));
}

// By the same calls as rtctl's, without a process each time.
TEST_F(Inspection, AStackIsTakenAThousandTimesFromAProcessUnderLoad) {
  const auto sorter = busy<&Worker::sort_for_ever>("sorter");
  int found = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto stacks =
        Future<rt::detail::Stacks>(cluster->client().call(sorter.id(), rt::detail::kStacks, "")).result(kLimit);
    ASSERT_TRUE(stacks) << stacks.error().message;
    for (const auto& thread : stacks->threads)
      for (const auto& frame : thread.frames) found += frame.function.ends_with("Worker::sort_for_ever()");
  }
  EXPECT_EQ(found, 1000);
  EXPECT_EQ(json({"actor", "sorter"})["state"], "running");
}

TEST_F(Inspection, AProcessThatIsStoppedIsSaidToBe) {
  const auto actor = spawn({.name = "stopped"});
  const int pid = actor.call<&Worker::pid>().get();
  ::kill(pid, SIGSTOP);
  EXPECT_THAT(said({"actor", "stopped"}), HasSubstr("its process did not answer within 1000 ms: it may be stopped"));
  const Ended ended = sandbox.run_rtctl({"stack", "stopped"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.errors, HasSubstr("gdb -p " + std::to_string(pid)));
  ::kill(pid, SIGCONT);
}

TEST_F(Inspection, AClusterIsChosenByItsIdWhereThereAreSeveral) {
  {
    const auto other = rt::connect(0, nullptr);
    expect_refused({"actors"}, "2 clusters run here; say which one:\n  --cluster ");
    const std::string id = fs::path(cluster->client().run_folder()).filename();
    EXPECT_THAT(said({"actors", "--cluster", id.substr(0, 8)}), HasSubstr("no actor lives in this cluster"));
    expect_refused({"actors", "--cluster", "xyz"}, "no living cluster is called xyz; there are\n  --cluster ");
  }
  cluster.reset();
  expect_refused({"actors"}, "no cluster of this user runs on this machine");
}

TEST_F(Inspection, ANameThatSeveralActorsHaveWantsItsNamespace) {
  spawn({.name = "same"}).call<&Worker::pid>().get();
  spawn({.name = "same", .name_space = "other"}).call<&Worker::pid>().get();
  expect_refused({"actor", "same"}, "2 actors have the name same; say which one:\n  --namespace ");
  EXPECT_EQ(json({"actor", "same", "--namespace", "other"})["namespace"], "other");
}

}  // namespace
}  // namespace rt::testing
