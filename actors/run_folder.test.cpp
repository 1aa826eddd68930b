#include "rt/actors/run_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <thread>

#include "rt/runtime/base/spawn_process.h"
#include "rt/runtime/base/temporary_folder.h"

namespace rt {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class RunFolderTest : public ::testing::Test {
 protected:
  void SetUp() override { ::setenv("RT_RUN_DIR", folder.path().c_str(), 1); }
  void TearDown() override { ::unsetenv("RT_RUN_DIR"); }
  fs::path parent() const { return folder.path() / ("rt-" + std::to_string(::geteuid())); }
  int runs() const {
    int count = 0;
    for (const auto& entry : fs::directory_iterator(parent())) count += entry.is_directory();
    return count;
  }
  // As a driver that was killed leaves it: the folder is there, the lock is free.
  std::string dead_run(bool with_lock) {
    const fs::path run = parent() / "0123456789abcdef";
    EXPECT_TRUE(make_folders(run / "logs"));
    if (with_lock) {
      EXPECT_TRUE(write_file_atomic(run / "lock", ""));
    }
    return run.filename();
  }
  TemporaryFolder folder;
};

TEST_F(RunFolderTest, IsTheUsersOwnAndGoesWithItsOwner) {
  std::optional<Result<RunFolder>> made = RunFolder::create();
  ASSERT_TRUE(*made) << made->error().message;
  const RunFolder& run = **made;
  EXPECT_EQ(run.path(), (parent() / run.id()).string());
  EXPECT_EQ(run.mark(), "RT_RUN=" + run.id());
  EXPECT_EQ(fs::status(run.path()).permissions(), fs::perms::owner_all);
  made.reset();
  EXPECT_EQ(runs(), 0);
}

TEST_F(RunFolderTest, SweepsDeadRunsAndTheirProcesses) {
  for (const bool with_lock : {true, false}) {
    ASSERT_TRUE(RunFolder::create());
    const std::string id = dead_run(with_lock);
    const auto left = spawn_process({.argv = {"/bin/sleep", "1000"}, .environment = {"RT_RUN=" + id}});
    ASSERT_TRUE(left);
    const auto run = RunFolder::create();
    ASSERT_TRUE(run) << run.error().message;
    EXPECT_EQ(runs(), 1);
    int status = 0;
    ASSERT_EQ(::waitpid(*left, &status, 0), *left);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  }
}

TEST_F(RunFolderTest, LeavesLivingRunsAlone) {
  const auto one = RunFolder::create(), two = RunFolder::create();
  ASSERT_TRUE(one && two);
  EXPECT_NE(one->id(), two->id());
  EXPECT_EQ(runs(), 2);
}

TEST_F(RunFolderTest, ListsTheLivingRunsWithTheirDrivers) {
  EXPECT_TRUE(living_runs()->empty());
  const auto run = RunFolder::create();
  dead_run(true);
  const auto living = living_runs();
  ASSERT_EQ(living->size(), 1u);
  EXPECT_EQ(living->front().id, run->id());
  EXPECT_EQ(living->front().path, run->path());
  EXPECT_EQ(living->front().driver, ::getpid());
}

TEST_F(RunFolderTest, ManyStartsAtOnceSweepNothingThatAnotherMakes) {
  constexpr int kThreads = 8, kRounds = 20;
  std::vector<std::thread> threads;
  std::atomic<int> failed = 0;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < kRounds; ++round) {
        const auto run = RunFolder::create();
        if (!run || !fs::exists(run->path() + "/lock")) ++failed;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(runs(), 0);
}

TEST_F(RunFolderTest, RefusesAFolderThatOthersCanEnter) {
  ASSERT_TRUE(make_folders(parent()));
  fs::permissions(parent(), fs::perms::all);
  const auto run = RunFolder::create();
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().code, Code::Refused);
  EXPECT_THAT(run.error().message, HasSubstr(parent().string() + " must be a folder of this user with mode 0700"));
}

TEST_F(RunFolderTest, SaysAtOnceThatAPathIsTooLongForItsSockets) {
  const fs::path far = folder.path() / std::string(60, 'x');
  ::setenv("RT_RUN_DIR", far.c_str(), 1);
  const auto run = RunFolder::create();
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().code, Code::Invalid);
  EXPECT_THAT(run.error().message, HasSubstr("set RT_RUN_DIR to a shorter folder"));
}

TEST_F(RunFolderTest, NamesAPlaceThatIsNotThere) {
  ::setenv("RT_RUN_DIR", "/no/such/place", 1);
  const auto run = RunFolder::create();
  ASSERT_FALSE(run);
  EXPECT_THAT(run.error().message, HasSubstr("cannot make /no/such/place/rt-"));
}

}  // namespace
}  // namespace rt
