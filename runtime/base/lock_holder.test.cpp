#include "rt/runtime/base/lock_holder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rt/runtime/base/temporary_folder.h"

namespace rt {
namespace {

TEST(LockHolder, IsTheProcessThatHasTheLock) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "lock";
  EXPECT_EQ(lock_holder(path), std::nullopt) << "there is no file";
  const Fd lock = *open_file(path, O_RDWR | O_CREAT);
  EXPECT_EQ(lock_holder(path), std::nullopt) << "nobody has locked it";
  ASSERT_EQ(::flock(lock.get(), LOCK_EX), 0);
  EXPECT_EQ(lock_holder(path), ::getpid());
  ASSERT_EQ(::flock(lock.get(), LOCK_UN), 0);
  EXPECT_EQ(lock_holder(path), std::nullopt) << "it is free again";
}

TEST(LockHolder, IsNobodyWhereTheOneThatTookTheLockIsDead) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "lock";
  const Fd lock = *open_file(path, O_RDWR | O_CREAT);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(::flock(lock.get(), LOCK_EX));
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  EXPECT_EQ(lock_holder(path), std::nullopt);  // it is locked still: this process has the description, too
}

}  // namespace
}  // namespace rt
