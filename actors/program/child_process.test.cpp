#include "rt/actors/program/child_process.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rt/actors/testing/temp_folder.h"

namespace rt {
namespace {

using testing::TempFolder;

Command shell(const TempFolder& folder, const std::string& script) {
  return {.argv = {"sh", "-c", script},
          .environment = {"PATH=/usr/bin:/bin", "FOLDER=" + folder.path().string()},
          .log = (folder / "log").string()};
}

ExitState wait_for_end(ChildProcess& child) {
  pollfd wait{child.end(), POLLIN, 0};
  EXPECT_EQ(::poll(&wait, 1, -1), 1);
  const auto state = child.try_wait();
  EXPECT_TRUE(state);
  return state.value_or(ExitState{});
}

class ChildProcessEnd : public ::testing::TestWithParam<bool> {};

TEST_P(ChildProcessEnd, IsNoticedAndTold) {
  const TempFolder folder;
  auto child = ChildProcess::start(shell(folder, "exit 3"), GetParam());
  ASSERT_TRUE(child) << child.error().message;
  EXPECT_EQ(wait_for_end(*child), (ExitState{.code = 3}));
  EXPECT_EQ(child->try_wait(), (ExitState{.code = 3}));

  auto killed = ChildProcess::start(shell(folder, "kill -9 $$"), GetParam());
  ASSERT_TRUE(killed) << killed.error().message;
  EXPECT_EQ(wait_for_end(*killed), (ExitState{.signal = SIGKILL}));
}

TEST_P(ChildProcessEnd, IsNotNoticedEarly) {
  const TempFolder folder;
  const auto fifo = folder / "go";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  auto child = ChildProcess::start(shell(folder, "read line < $FOLDER/go"), GetParam());
  ASSERT_TRUE(child) << child.error().message;
  pollfd wait{child->end(), POLLIN, 0};
  EXPECT_EQ(::poll(&wait, 1, 0), 0);
  EXPECT_EQ(child->try_wait(), std::nullopt);
  std::ofstream(fifo) << "go\n";
  EXPECT_EQ(wait_for_end(*child), ExitState{});
}

INSTANTIATE_TEST_SUITE_P(Ways, ChildProcessEnd, ::testing::Values(true, false),
                         [](const auto& info) { return info.param ? "Pidfd" : "Thread"; });

TEST(ChildProcess, LeadsASessionAndLogsWhatItPrints) {
  const TempFolder folder;
  auto child = ChildProcess::start(
      shell(folder, "ps -o sid= -p $$ | tr -d ' '; echo to stderr >&2; cat; echo $$; env | grep -c ."));
  ASSERT_TRUE(child) << child.error().message;
  EXPECT_EQ(wait_for_end(*child), ExitState{});
  const std::string pid = std::to_string(child->pid());
  const std::string log = testing::read_file(folder / "log");
  EXPECT_EQ(log.find(pid + "\nto stderr\n" + pid + "\n"), 0) << log;
}

TEST(ChildProcess, IsLookedForInItsOwnPath) {
  const TempFolder folder;
  const auto program = folder.write("only-here", "#!/bin/sh\nexit 4\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  auto child = ChildProcess::start(
      {.argv = {"only-here"}, .environment = {"PATH=" + folder.path().string()}, .log = (folder / "log").string()});
  ASSERT_TRUE(child) << child.error().message;
  EXPECT_EQ(wait_for_end(*child), (ExitState{.code = 4}));
}

TEST(ChildProcess, SaysWhyAProgramCannotRun) {
  const TempFolder folder;
  const auto log = (folder / "log").string();
  const auto missing = ChildProcess::start({.argv = {"/no/such/program"}, .log = log});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Code::NotFound);
  EXPECT_EQ(missing.error().message.find("cannot run '/no/such/program': No such file or directory; give its path"), 0);

  const auto plain = ChildProcess::start({.argv = {folder.write("plain", "text").string()}, .log = log});
  ASSERT_FALSE(plain);
  EXPECT_EQ(plain.error().code, Code::Invalid);
  EXPECT_NE(plain.error().message.find("chmod +x"), std::string::npos) << plain.error().message;

  EXPECT_EQ(ChildProcess::start({.argv = {}, .log = log}).error().code, Code::Invalid);
  EXPECT_EQ(ChildProcess::start({.argv = {"true"}, .log = "/no/such/folder/log"}).error().code, Code::NotFound);
}

// A host process starts the program and is killed; the program falls to this test, which is a subreaper.
TEST(ChildProcess, DiesWithItsHost) {
  const TempFolder folder;
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  const pid_t host = ::fork();
  if (host == 0) {
    const auto child = ChildProcess::start(shell(folder, "while :; do sleep 1000; done"));
    if (child) folder.write("pid", std::to_string(child->pid()));
    ::kill(::getpid(), SIGKILL);
  }
  ASSERT_EQ(::waitpid(host, nullptr, 0), host);
  const pid_t program = std::stoi(testing::read_file(folder / "pid"));
  int status = 0;
  ASSERT_EQ(::waitpid(program, &status, 0), program);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

TEST(ExitStates, ReadWell) {
  EXPECT_EQ(to_string(ExitState{.code = 3}), "exit code 3");
  EXPECT_EQ(to_string(ExitState{.signal = SIGKILL}), "signal 9 (Killed)");
}

}  // namespace
}  // namespace rt
