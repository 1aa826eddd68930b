#include "rt/runtime/base/process_setup.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <initializer_list>

namespace rt {
namespace {

// The exit code of a process that closes `closed`, calls the function and runs `look`.
template <class Look>
int exit_code_with_closed(std::initializer_list<int> closed, Look&& look) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    for (const int fd : closed) ::close(fd);
    open_standard_streams();
    ::_exit(look() ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  return status;
}

TEST(OpenStandardStreams, LeavesNoneOfTheirNumbersToTheNextFile) {
  for (const auto closed : {std::initializer_list<int>{0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}, {0, 1, 2}})
    EXPECT_EQ(exit_code_with_closed(closed, [] { return ::open("/dev/null", O_RDONLY) > 2; }), 0);
}

TEST(OpenStandardStreams, PrintingFailsAsOnAClosedOne) {
  EXPECT_EQ(exit_code_with_closed({1}, [] { return ::write(1, "x", 1) < 0 && errno == EBADF; }), 0);
}

TEST(OpenStandardStreams, AnOpenOneIsLeftAlone) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  EXPECT_EQ(exit_code_with_closed(
                {0}, [&] { return ::dup2(ends[1], 1) == 1 && (open_standard_streams(), ::write(1, "x", 1)) == 1; }),
            0);
  char got = 0;
  EXPECT_EQ(::read(ends[0], &got, 1), 1);
  EXPECT_EQ(got, 'x');
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(LeaveSignalsToDriver, ThoseThatEndAJobAreSurvived) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    leave_signals_to_driver();
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::raise(number);
    ::_exit(7);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

}  // namespace
}  // namespace rt
