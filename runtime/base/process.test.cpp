#include "rt/runtime/base/process.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "rt/runtime/base/files.h"
#include "rt/runtime/base/id.h"

namespace rt {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::Not;

// A marked process that started a daemon: a grandchild in a session of its own whose parent has ended.
class MarkedTree : public ::testing::Test {
 protected:
  void SetUp() override {
    int up[2];
    ASSERT_EQ(::pipe2(up, O_CLOEXEC), 0);
    child = ::fork();
    if (child == 0) {
      ::setenv("RT_RUN", run.c_str(), 1);
      ::dup2(up[1], 1);
      ::execl("/bin/sh", "sh", "-c", "(setsid sh -c 'echo $$; exec tail -f /dev/null' &); exec tail -f /dev/null",
              nullptr);
      ::_exit(127);
    }
    output = Fd(up[0]);  // kept open: tail ends when nobody reads what it writes
    ::close(up[1]);
    char text[32] = {};
    ASSERT_GT(::read(output.get(), text, sizeof text - 1), 0);
    daemon = static_cast<pid_t>(std::stoi(text));
  }
  void TearDown() override {
    ::kill(daemon, SIGKILL);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  const std::string run = random_id().get();
  const std::string mark = "RT_RUN=" + run;
  Fd output;
  pid_t child = 0;
  pid_t daemon = 0;
};

TEST_F(MarkedTree, IsFoundWholeByItsMark) {
  const auto found = processes_with_environment(mark).get();
  EXPECT_THAT(found, Contains(daemon));
  EXPECT_THAT(found, Contains(child));
  EXPECT_THAT(found, Not(Contains(::getpid())));
}

TEST_F(MarkedTree, IsNotFoundByAPartOfItsMark) {
  EXPECT_TRUE(processes_with_environment(mark.substr(0, mark.size() - 1)).get().empty());
  EXPECT_TRUE(processes_with_environment(mark.substr(1)).get().empty());
}

TEST_F(MarkedTree, IsKilledWhole) {
  EXPECT_GE(kill_marked(mark, 10s).get(), 2);
  EXPECT_TRUE(processes_with_environment(mark).get().empty());
  EXPECT_EQ(kill_marked(mark, 10s).get(), 0);
}

TEST_F(MarkedTree, KeepsItsStartTimesWhichGrowWithTheTime) {
  const auto daemon_start = process_start_time(daemon).get();
  EXPECT_EQ(process_start_time(daemon).get(), daemon_start);
  EXPECT_GE(daemon_start, process_start_time(child).get());
  EXPECT_GE(process_start_time(child).get(), process_start_time(::getpid()).get());
}

TEST(ProcessStartTime, IsNotConfusedByTheProgramsName) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::ofstream("/proc/self/comm") << ") 1 (2 3";
    ::pause();
  }
  const auto start = process_start_time(child);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ASSERT_TRUE(start);
  EXPECT_GE(*start, process_start_time(::getpid()).get());
  EXPECT_EQ(process_start_time(child).error().code, Code::NotFound);
}

}  // namespace
}  // namespace rt
