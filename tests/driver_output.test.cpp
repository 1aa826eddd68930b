// What of actors comes to the driver's own stderr: their logs (echo_logs, RT_ECHO), and how to debug one (RT_DEBUG).
// This program is its own job program.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fcntl.h>
#include <cstring>
#include <regex>
#include <set>

#include "rt/runtime/base/files.h"
#include "rt/tests/support/cluster_test.h"

namespace driver_output_test {

class Talker {
 public:
  int pid() { return ::getpid(); }
  void say(std::string line) { rt::self().logger().info(line); }
  void print(int lines) {
    for (int i = 0; i < lines; ++i) std::printf("line %d\n", i);
    std::fflush(stdout);
  }
  void crash() {
    std::fprintf(stderr, "my last words");
    std::_Exit(3);
  }
  rt::Actor<Talker> spawn_child() { return rt::self().spawn<Talker>({.name = "child"}); }
};

}  // namespace driver_output_test

namespace rt::testing {
namespace {

using driver_output_test::Talker;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

// This process's stderr, in a file.
class DriverOutput : public ::testing::Test {
 protected:
  DriverOutput() : saved_(::dup(2)) {
    ::setenv("RT_RUN_DIR", sandbox.path().c_str(), 1);
    const Fd file = *open_file((sandbox / "stderr").string(), O_WRONLY | O_CREAT | O_APPEND);
    ::dup2(file.get(), 2);
  }
  ~DriverOutput() override {
    ::dup2(saved_.get(), 2);
    ::unsetenv("RT_DEBUG");
    ::unsetenv("RT_ECHO");
    EXPECT_EQ(sandbox.leftovers(), "");
  }
  std::string said() const { return read_file((sandbox / "stderr").string()).get(); }
  bool says(const std::string& what) const {
    return eventually([&] { return said().find(what) != std::string::npos; });
  }

  Sandbox sandbox;

 private:
  const Fd saved_;
};

TEST_F(DriverOutput, LogsAreEchoedWithWhoWroteThemWhenItIsAskedFor) {
  Cluster cluster = rt::connect(0, nullptr, {.cpus = 1, .echo_logs = true});
  const auto talker = cluster.spawn<Talker>({.name = "talker"});
  const std::string before = "[talker " + std::to_string(talker.call<&Talker::pid>().get()) + "] ";
  talker.call<&Talker::say>("the loss is nan");
  EXPECT_TRUE(says(" talker] info: the loss is nan\n"));
  EXPECT_THAT(said(), ::testing::StartsWith(before));
  const auto child = talker.call<&Talker::spawn_child>().get();
  child.call<&Talker::say>("hello");
  EXPECT_TRUE(says("[child " + std::to_string(child.call<&Talker::pid>().get()) + "] "));
}

TEST_F(DriverOutput, NothingIsLostAtTheDriversEndNorLastWordsWithoutAnEnd) {
  ::setenv("RT_ECHO", "1", 1);
  {
    Cluster cluster = rt::connect(0, nullptr, {.cpus = 1});
    const auto mortal = cluster.spawn<Talker>({.name = "mortal", .max_restarts = 1});
    EXPECT_EQ(error_of(mortal.call<&Talker::crash>()).code, Code::MaybeRan);
    mortal.call<&Talker::print>(20'000).get();
  }
  const std::string text = said();
  EXPECT_THAT(text, ContainsRegex("mortal [0-9]+\\] my last words\n"));
  EXPECT_THAT(text, AllOf(HasSubstr("] line 19999\n"), Not(HasSubstr("left out"))));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 20'001);
  std::set<std::string> who;
  const std::regex name("\\[mortal [0-9]+\\]");
  for (std::sregex_iterator at(text.begin(), text.end(), name), end; at != end; ++at) who.insert(at->str());
  EXPECT_EQ(who.size(), 2u) << "each incarnation's lines carry its own pid";
}

TEST_F(DriverOutput, NothingIsEchoedWhereNobodyAskedForIt) {
  {
    Cluster cluster = rt::connect(0, nullptr, {.cpus = 1});
    cluster.spawn<Talker>().call<&Talker::say>("hello").get();
  }
  EXPECT_EQ(said(), "");
}

class Debugged : public DriverOutput, public ::testing::WithParamInterface<const char*> {};

// A tracer is what a debugger is to the kernel.
TEST_P(Debugged, TheActorThatIsNamedWaitsUntilATracerIsThere) {
  ::setenv("RT_DEBUG", GetParam(), 1);
  Cluster cluster = rt::connect(0, nullptr, {.cpus = 1});
  const auto talker = cluster.spawn<Talker>({.name = "talker"});
  const auto waits = talker.call<&Talker::pid>();
  ASSERT_TRUE(says("  kill -CONT "));
  EXPECT_THAT(said(), HasSubstr("rt: actor 'talker' (driver_output_test::Talker) waits before its constructor"));
  std::smatch pid;
  const std::string text = said();
  ASSERT_TRUE(std::regex_search(text, pid, std::regex("  gdb -p ([0-9]+)\n")));
  EXPECT_FALSE(waits.ready());
  const pid_t traced = std::stoi(pid[1]);
  ASSERT_EQ(::ptrace(PTRACE_SEIZE, traced, nullptr, nullptr), 0) << std::strerror(errno);
  EXPECT_EQ(waits.result(kLimit).get(), traced);
  ::ptrace(PTRACE_INTERRUPT, traced, nullptr, nullptr);
  ::waitpid(traced, nullptr, __WALL);
  EXPECT_EQ(::ptrace(PTRACE_DETACH, traced, nullptr, nullptr), 0);
}

INSTANTIATE_TEST_SUITE_P(By, Debugged, ::testing::Values("talker", "Talker", "driver_output_test::Talker"),
                         [](const auto& info) {
                           return info.index == 0 ? "Name" : info.index == 1 ? "Class" : "WholeClass";
                         });

TEST_F(DriverOutput, OneThatWaitsForADebuggerGoesOnAtSigcontAndOthersDoNotWait) {
  ::setenv("RT_DEBUG", "talker", 1);
  Cluster cluster = rt::connect(0, nullptr, {.cpus = 1});
  const auto talker = cluster.spawn<Talker>({.name = "talker"}), other = cluster.spawn<Talker>({.name = "other"});
  EXPECT_TRUE(other.call<&Talker::pid>().result(kLimit));
  const auto waits = talker.call<&Talker::pid>();
  ASSERT_TRUE(says("  kill -CONT "));
  const auto facts = cluster.list_actors();
  for (const ActorFacts& actor : *facts)
    if (actor.name == "talker") ::kill(actor.pid, SIGCONT);
  EXPECT_TRUE(waits.result(kLimit));
}

}  // namespace
}  // namespace rt::testing
