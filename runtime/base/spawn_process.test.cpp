#include "rt/runtime/base/spawn_process.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rt/runtime/base/temporary_folder.h"

namespace rt {
namespace {

using testing::HasSubstr;

class SpawnProcess : public ::testing::Test {
 protected:
  // What the script printed; its exit code is 0.
  std::string run(const std::string& script, int inherit_fd = -1) {
    const auto pid = spawn_process({.argv = {"sh", "-c", script},
                                    .environment = {"PATH=/usr/bin:/bin", "ONLY=this"},
                                    .log = log,
                                    .inherit_fd = inherit_fd});
    EXPECT_TRUE(pid) << pid.error().message;
    int status = 0;
    EXPECT_EQ(::waitpid(*pid, &status, 0), *pid);
    EXPECT_EQ(status, 0);
    return read_file(log).get();
  }
  const TemporaryFolder folder;
  const std::string log = (folder.path() / "log").string();
};

TEST_F(SpawnProcess, LeadsASessionAndHasOnlyTheEnvironmentItWasGiven) {
  EXPECT_EQ(
      run("[ $(ps -o sid= -p $$) = $$ ] && echo leads; env | grep -v -e ^PWD= -e ^_= -e ^SHLVL= -e ^OLDPWD= | sort"),
      "leads\nONLY=this\nPATH=/usr/bin:/bin\n");
}

TEST_F(SpawnProcess, AppendsBothItsOutputsToTheLog) {
  ASSERT_TRUE(write_file_atomic(log, "before\n"));
  EXPECT_EQ(run("echo out; echo err >&2; cat"), "before\nout\nerr\n");
}

// bash and the tests' own runner may hold descriptors that aren't close-on-exec, so an exact one is looked for.
TEST_F(SpawnProcess, InheritsNoDescriptorButTheOneThatIsNamed) {
  const Fd mine = *open_file(folder.path() / "mine", O_RDWR | O_CREAT);
  ASSERT_TRUE(write_all(mine.get(), "named\n", "mine"));
  ASSERT_EQ(::lseek(mine.get(), 0, SEEK_SET), 0);
  const std::string printed =
      run("cat <&3; ls -l /proc/self/fd | grep -c " + folder.path().string() + "/mine", mine.get());
  EXPECT_EQ(printed, "named\n1\n");
}

// As where this process was started with its own 0, 1 and 2 closed.
TEST_F(SpawnProcess, InheritsADescriptorWhateverItsNumber) {
  const Fd mine = *open_file(folder.path() / "mine", O_RDWR | O_CREAT);
  for (int number = 0; number <= 4; ++number) {
    ASSERT_TRUE(write_file_atomic(log, ""));
    const Fd kept(::fcntl(number, F_DUPFD_CLOEXEC, 10));
    ASSERT_EQ(::dup2(mine.get(), number), number);
    const std::string printed = run("readlink /proc/self/fd/3", number);
    if (kept)
      ::dup2(kept.get(), number);
    else
      ::close(number);
    EXPECT_EQ(printed, (folder.path() / "mine").string() + "\n") << "as descriptor " << number;
  }
}

TEST_F(SpawnProcess, HasDefaultSignalsWhateverThisProcessIgnoresOrBlocks) {
  const auto old_handler = ::signal(SIGCHLD, SIG_IGN);
  const auto old_hup = ::signal(SIGHUP, SIG_IGN), old_term = ::signal(SIGTERM, SIG_IGN);
  sigset_t blocked, old_mask;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &blocked, &old_mask);
  const auto pid = spawn_process({.argv = {"grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"},
                                  .environment = {"PATH=/usr/bin:/bin"},
                                  .log = log});
  ::pthread_sigmask(SIG_SETMASK, &old_mask, nullptr);
  ::signal(SIGCHLD, old_handler);
  ::signal(SIGHUP, old_hup);
  ::signal(SIGTERM, old_term);
  ASSERT_TRUE(pid);
  ::waitpid(*pid, nullptr, 0);
  EXPECT_EQ(read_file(log).get(), "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

TEST_F(SpawnProcess, SaysWhatCannotBeRunAndLeavesNothingBehind) {
  const auto missing = spawn_process({.argv = {"/no/such/program"}});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Code::NotFound);
  EXPECT_THAT(missing.error().message, HasSubstr("cannot run '/no/such/program': No such file or directory"));
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);

  EXPECT_EQ(spawn_process({.argv = {}}).error().code, Code::Invalid);
  const auto no_log = spawn_process({.argv = {"true"}, .log = "/no/such/folder/log"});
  ASSERT_FALSE(no_log);
  EXPECT_THAT(no_log.error().message, HasSubstr("/no/such/folder/log"));
}

TEST(EnvironmentWith, ReplacesByNameAndKeepsTheRest) {
  ::setenv("RT_TEST_KEPT", "old", 1);
  ::setenv("RT_TEST_REPLACED", "old", 1);
  const auto all = environment_with({"RT_TEST_REPLACED=new", "RT_TEST_REPLACED_TOO=x"});
  EXPECT_THAT(all, testing::Contains("RT_TEST_KEPT=old"));
  EXPECT_THAT(all, testing::Contains("RT_TEST_REPLACED=new"));
  EXPECT_THAT(all, testing::Not(testing::Contains("RT_TEST_REPLACED=old")));
}

}  // namespace
}  // namespace rt
