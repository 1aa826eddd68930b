#include "rt/runtime/base/files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "rt/runtime/base/temporary_folder.h"

namespace rt {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Files : public ::testing::Test {
 protected:
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder.path())) found.push_back(entry.path().filename());
    return found;
  }
  TemporaryFolder folder;
  const fs::path file = folder.path() / "file";
};

TEST_F(Files, ReadsBackWhatWasWritten) {
  const std::string bytes = std::string(100'000, 'x') + '\0' + "end";
  ASSERT_TRUE(write_file_atomic(file, bytes));
  EXPECT_EQ(read_file(file).get(), bytes);
  EXPECT_EQ(fs::status(file).permissions(), fs::perms(0600));
}

TEST_F(Files, ReplacesAFileAndLeavesNothingBesideIt) {
  ASSERT_TRUE(write_file_atomic(file, "old"));
  ASSERT_TRUE(write_file_atomic(file, "new"));
  EXPECT_EQ(read_file(file).get(), "new");
  EXPECT_THAT(names(), testing::ElementsAre("file"));
}

TEST_F(Files, AFullDiskLeavesTheOldContentAndIsNamed) {
  ASSERT_TRUE(write_file_atomic(file, "old"));
  ::signal(SIGXFSZ, SIG_IGN);  // the limit on a file's size plays the full disk
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit limit{10, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &limit);
  const Status written = write_file_atomic(file, "more than ten bytes");
  ::setrlimit(RLIMIT_FSIZE, &before);
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().message, HasSubstr(file.string()));
  EXPECT_EQ(read_file(file).get(), "old");
  EXPECT_THAT(names(), testing::ElementsAre("file"));
}

// /dev/full is the kernel's own full disk: every write(2) to it fails with ENOSPC (full(4)).
TEST_F(Files, AFullDiskHasACodeOfItsOwn) {
  const Fd full = open_file("/dev/full", O_WRONLY).get();
  EXPECT_EQ(write_all(full.get(), "x", "/dev/full").error().code, Code::NoSpace);
}

TEST_F(Files, ErrorsNameThePathAndTheReason) {
  EXPECT_EQ(read_file(file).error(),
            (Error{Code::NotFound, "cannot open " + file.string() + ": No such file or directory"}));
  EXPECT_EQ(write_file_atomic(file / "below", "x").error().code, Code::NotFound);
  EXPECT_THAT(read_file(folder.path()).error().message, HasSubstr("Is a directory"));
}

TEST_F(Files, ReadsFilesWhoseSizeTheSystemDoesNotTell) {
  EXPECT_THAT(read_file("/proc/self/status").get(), HasSubstr("Pid:"));
}

TEST_F(Files, ReadsAPieceAndLessAtTheEnd) {
  ASSERT_TRUE(write_file_atomic(file, "0123456789"));
  const Fd fd = open_file(file, O_RDONLY).get();
  EXPECT_EQ(read_at(fd.get(), 4, 3, file).get(), "3456");
  EXPECT_EQ(read_at(fd.get(), 4, 8, file).get(), "89");
  EXPECT_EQ(read_at(fd.get(), 4, 20, file).get(), "");
}

TEST_F(Files, MakesSyncsAndRemovesATree) {
  const fs::path deep = folder.path() / "a" / "b";
  ASSERT_TRUE(make_folders(deep));
  ASSERT_TRUE(make_folders(deep));
  EXPECT_EQ(fs::status(deep).permissions(), fs::perms(0700));
  ASSERT_TRUE(write_file_atomic(deep / "file", "x"));
  fs::create_symlink("/nowhere", deep / "dangling");
  EXPECT_TRUE(fsync_tree(folder.path() / "a"));
  ASSERT_TRUE(remove_tree(folder.path() / "a"));
  EXPECT_TRUE(names().empty());
  EXPECT_TRUE(remove_tree(folder.path() / "a"));
}

TEST_F(Files, RemovesALinkAndNotWhatItPointsTo) {
  ASSERT_TRUE(make_folders(folder.path() / "kept"));
  ASSERT_TRUE(make_folders(folder.path() / "removed"));
  fs::create_directory_symlink(folder.path() / "kept", folder.path() / "removed" / "link");
  ASSERT_TRUE(remove_tree(folder.path() / "removed"));
  EXPECT_THAT(names(), testing::ElementsAre("kept"));
}

TEST_F(Files, AnFdClosesWhatItOwnsOnce) {
  Fd first = open_file("/dev/null", O_RDONLY).get();
  const int number = first.get();
  Fd second = std::move(first);
  EXPECT_FALSE(first);
  EXPECT_EQ(second.get(), number);
  second = Fd();
  EXPECT_EQ(::fcntl(number, F_GETFD), -1);
}

}  // namespace
}  // namespace rt
