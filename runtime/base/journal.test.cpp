// The journal in a folder: what it says of torn, damaged and foreign files, of a second writer and of a full disk.
#include "rt/runtime/base/journal.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rt/runtime/base/journal_reader.h"
#include "rt/runtime/base/temporary_folder.h"

namespace rt {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using Records = std::vector<std::string>;

class JournalFolder : public ::testing::Test {
 protected:
  OpenedJournal open(std::uint64_t segment_bytes = 64 << 20) {
    return open_journal(folder.path(), {.segment_bytes = segment_bytes}).get();
  }
  void write_records(const Records& records, std::uint64_t segment_bytes = 64 << 20) {
    const auto opened = open(segment_bytes);
    for (const auto& record : records) ASSERT_TRUE(opened.journal->append(record));
  }
  Error error_of_opening() {
    const auto opened = open_journal(folder.path());
    return opened ? Error{} : opened.error();
  }
  fs::path file(const char* name) const { return folder.path() / name; }
  void flip_byte(const fs::path& path, std::size_t offset) {
    std::string bytes = read_file(path).get();
    bytes.at(offset) ^= 1;
    ASSERT_TRUE(write_file_atomic(path, bytes));
  }
  TemporaryFolder folder;
};

// A term's first segment begins with a header of 24 bytes and a start of 32; a record of n bytes takes 16 + n.
constexpr std::size_t kFirstRecord = 24 + 32;

TEST_F(JournalFolder, NamesASegmentByItsTermAndNumber) {
  write_records({"one"});
  write_records({"two", "three"}, 1);
  EXPECT_EQ(fs::file_size(file("000001-000001.rtj")), kFirstRecord + 16 + 3);
  EXPECT_TRUE(fs::exists(file("000002-000001.rtj")));
  EXPECT_TRUE(fs::exists(file("000002-000002.rtj")));
}

TEST_F(JournalFolder, StartsASegmentBeforeTheBoundIsPassed) {
  write_records(Records(20, std::string(40, 'x')), 200);
  std::size_t segments = 0;
  for (const auto& entry : fs::directory_iterator(folder.path())) {
    if (entry.path().extension() != ".rtj") continue;
    EXPECT_LE(entry.file_size(), 200u) << entry.path();
    ++segments;
  }
  EXPECT_EQ(segments, 7u);  // 2 beside the start, then 3 each
}

TEST_F(JournalFolder, ASnapshotDeletesTheSegmentsAndSnapshotsBeforeIt) {
  write_records({"one"});
  const auto opened = open();
  ASSERT_TRUE(opened.journal->snapshot("first"));
  ASSERT_TRUE(opened.journal->snapshot("second"));
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder.path())) names.push_back(entry.path().filename());
  EXPECT_THAT(names, testing::UnorderedElementsAre("lock", "000002-000003.rtj", "000002-000003.rts"));
}

TEST_F(JournalFolder, WhereverTheLastSegmentIsCutAPrefixIsLeft) {
  write_records({"zero"});
  write_records({"one", "two", std::string(50, 'x'), "", "five"}, 150);
  const Records all = {"zero", "one", "two", std::string(50, 'x'), "", "five"};
  auto files = journal::list_files(folder.path()).get();
  while (!files.empty()) {  // each segment in turn is the last, and is cut at each of its bytes
    const fs::path last = folder.path() / to_string(files.back());
    for (auto size = static_cast<long>(fs::file_size(last)); size >= 0; --size) {
      fs::resize_file(last, static_cast<std::uintmax_t>(size));
      auto reader = JournalReader::open(folder.path()).get();
      const Records left = reader.poll().get();
      ASSERT_LE(left.size(), all.size());
      EXPECT_TRUE(std::equal(left.begin(), left.end(), all.begin())) << last << " cut to " << size;
    }
    fs::remove(last);
    files.pop_back();
  }
}

TEST_F(JournalFolder, SaysHowMuchOfATornRecordWasCutOffAndWhere) {
  write_records({"one", "two"});
  fs::resize_file(file("000001-000001.rtj"), kFirstRecord + 19 + 16 + 2);
  const auto opened = open();
  EXPECT_EQ(opened.contents.records, (Records{"one"}));
  ASSERT_EQ(opened.notices.size(), 1u);
  EXPECT_THAT(opened.notices[0], HasSubstr("000001-000001.rtj"));
  EXPECT_THAT(opened.notices[0], HasSubstr("18 bytes from offset 75 on were cut off"));
}

TEST_F(JournalFolder, SaysItOnce) {
  write_records({"one", "two"});
  fs::resize_file(file("000001-000001.rtj"), kFirstRecord + 19 + 5);
  write_records({"three"});
  const auto opened = open();
  EXPECT_EQ(opened.contents.records, (Records{"one", "three"}));
  EXPECT_TRUE(opened.notices.empty());
}

TEST_F(JournalFolder, TakesZerosThatACrashOfTheMachineLeftForATornEnd) {
  write_records({"one"});
  const fs::path path = file("000001-000001.rtj");
  fs::resize_file(path, fs::file_size(path) + 4096);
  EXPECT_EQ(open().contents.records, (Records{"one"}));
}

TEST_F(JournalFolder, NamesFileAndOffsetOfADamagedRecordInTheMiddle) {
  write_records({"one", "two", "three"});
  for (const std::size_t byte : {std::size_t{0}, std::size_t{4}, std::size_t{8}, std::size_t{17}}) {
    SCOPED_TRACE(byte);
    flip_byte(file("000001-000001.rtj"), kFirstRecord + 19 + byte);
    const Error error = error_of_opening();
    EXPECT_EQ(error.code, Code::Corrupt);
    EXPECT_THAT(error.message, HasSubstr("000001-000001.rtj"));
    EXPECT_THAT(error.message, HasSubstr("offset 75"));
    flip_byte(file("000001-000001.rtj"), kFirstRecord + 19 + byte);
  }
}

TEST_F(JournalFolder, ASegmentThatIsNotTheLastMustBeWhole) {
  write_records({"one", "two"}, 1);
  fs::resize_file(file("000001-000001.rtj"), kFirstRecord + 18);
  EXPECT_EQ(error_of_opening().code, Code::Corrupt);
  fs::remove(file("000001-000001.rtj"));
  EXPECT_THAT(error_of_opening().message, HasSubstr("000001-000001.rtj: this segment is missing"));
}

TEST_F(JournalFolder, RefusesAnotherFormatAndNamesBoth) {
  write_records({"one"});
  std::string bytes = read_file(file("000001-000001.rtj")).get();
  bytes[8] = 7;
  ASSERT_TRUE(write_file_atomic(file("000001-000001.rtj"), bytes));
  const Error error = error_of_opening();
  EXPECT_EQ(error.code, Code::Refused);
  EXPECT_THAT(error.message, HasSubstr("format 7"));
  EXPECT_THAT(error.message, HasSubstr("format 1"));
}

TEST_F(JournalFolder, ADamagedSnapshotIsCorrupt) {
  ASSERT_TRUE(open().journal->snapshot("state"));
  flip_byte(file("000001-000002.rts"), 24 + 12 + 4);
  const Error error = error_of_opening();
  EXPECT_EQ(error.code, Code::Corrupt);
  EXPECT_THAT(error.message, HasSubstr("000001-000002.rts"));
}

TEST_F(JournalFolder, RefusesASecondWriterAndNamesTheFirst) {
  const auto opened = open();
  const Error error = error_of_opening();
  EXPECT_EQ(error.code, Code::Refused);
  EXPECT_THAT(error.message, HasSubstr("process " + std::to_string(::getpid())));
}

TEST_F(JournalFolder, SaysThatItWasDeletedUnderItsWriter) {
  const auto opened = open();
  ASSERT_TRUE(opened.journal->append("one"));
  fs::remove_all(folder.path());
  const Status synced = opened.journal->sync();
  ASSERT_FALSE(synced);
  EXPECT_THAT(synced.error().message, HasSubstr("was deleted while it was written"));
}

// Between its lock and its pid in the file, or where that couldn't be written.
TEST_F(JournalFolder, RefusesASecondWriterAndNamesAFirstThatLeftNoPid) {
  const Fd lock = *open_file(file("lock"), O_RDWR | O_CREAT);
  ASSERT_EQ(::flock(lock.get(), LOCK_EX), 0);
  EXPECT_THAT(error_of_opening().message, HasSubstr("is being written by process " + std::to_string(::getpid())));
}

TEST_F(JournalFolder, SaysThatAWriterCannotBeNamed) {
  const Fd lock = *open_file(file("lock"), O_RDWR | O_CREAT);
  const pid_t child = ::fork();  // it takes the lock for this process, too, and ends
  if (child == 0) ::_exit(::flock(lock.get(), LOCK_EX));
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_THAT(error_of_opening().message, HasSubstr("is being written by a process that can't be named"));
}

TEST_F(JournalFolder, RefusesWhatIsTooLargeForOneAppend) {
  const std::string large((256 << 20) - 3, 'x');
  EXPECT_EQ(open().journal->append(large).error().code, Code::Invalid);
}

// Two writers at once, as on a file system without locks: the lock of the first is taken away.
class OldWriter : public JournalFolder {
 protected:
  void SetUp() override {
    ASSERT_TRUE(older.journal->append("of both"));
    fs::remove(file("lock"));
    newer.emplace(open());
  }
  Records records() { return JournalReader::open(folder.path()).get().poll().get(); }
  OpenedJournal older = open(150);
  std::optional<OpenedJournal> newer;
};

TEST_F(OldWriter, IsNotReadPastTheEndThatTheNewTermSaw) {
  ASSERT_TRUE(older.journal->append("void"));
  ASSERT_TRUE(newer->journal->append("of the new"));
  EXPECT_EQ(records(), (Records{"of both", "of the new"}));
}

TEST_F(OldWriter, IsRefusedAtItsNextSegmentAndSnapshot) {
  ASSERT_TRUE(older.journal->append("void"));
  const Status rotated = older.journal->append(std::string(100, 'x'));
  ASSERT_FALSE(rotated);
  EXPECT_EQ(rotated.error().code, Code::Refused);
  EXPECT_THAT(rotated.error().message, HasSubstr("its term is 2, ours 1"));
  EXPECT_EQ(older.journal->snapshot("void").error().code, Code::Refused);
  EXPECT_EQ(records(), (Records{"of both"}));
}

// A full disk is played by the limit on a file's size: write(2) writes what fits, then fails.
class FullDisk : public JournalFolder {
 protected:
  void SetUp() override {
    ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
  }
  void TearDown() override { make_room(); }
  void fill_at(rlim_t bytes) {
    const rlimit limit{bytes, before_.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  }
  void make_room() { ::setrlimit(RLIMIT_FSIZE, &before_); }
  rlimit before_{};
};

TEST_F(FullDisk, CutsAHalfWrittenRecordOffAndWorksOnceThereIsRoom) {
  auto opened = open();
  ASSERT_TRUE(opened.journal->append("one"));
  fill_at(kFirstRecord + 19 + 20);
  const Status failed = opened.journal->append("does not fit");
  make_room();
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Code::System);
  EXPECT_THAT(failed.error().message, HasSubstr("000001-000001.rtj"));
  EXPECT_EQ(fs::file_size(file("000001-000001.rtj")), kFirstRecord + 19);

  ASSERT_TRUE(opened.journal->append("two"));
  opened.journal.reset();
  opened = open();
  EXPECT_EQ(opened.contents.records, (Records{"one", "two"}));
  EXPECT_TRUE(opened.notices.empty());
}

TEST_F(FullDisk, LeavesTheJournalAsItWasWhenASegmentOrSnapshotDoesNotFit) {
  auto opened = open(1);
  ASSERT_TRUE(opened.journal->append("one"));
  fill_at(20);
  const Status rotated = opened.journal->append("two");
  make_room();
  EXPECT_FALSE(rotated);
  fill_at(30);
  const Status snapshot = opened.journal->snapshot("state");
  make_room();
  EXPECT_FALSE(snapshot);
  ASSERT_TRUE(opened.journal->append("two"));
  opened.journal.reset();
  EXPECT_EQ(open().contents, (JournalContents{{}, {"one", "two"}}));
}

}  // namespace
}  // namespace rt
