#include "rt/runtime/base/journal_reader.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "rt/runtime/base/journal.h"
#include "rt/runtime/base/temporary_folder.h"

namespace rt {
namespace {

using Records = std::vector<std::string>;

class JournalReaderTest : public ::testing::Test {
 protected:
  void append(std::string_view record) { ASSERT_TRUE(writer.journal->append(record)); }
  void restart_writer() {
    writer.journal.reset();
    writer = open_journal(folder.path(), {.segment_bytes = 100}).get();
  }
  TemporaryFolder folder;
  OpenedJournal writer = open_journal(folder.path(), {.segment_bytes = 100}).get();
};

TEST_F(JournalReaderTest, FollowsAWriterRecordByRecord) {
  auto reader = JournalReader::open(folder.path()).get();
  EXPECT_EQ(reader.poll().get(), Records{});
  append("one");
  EXPECT_EQ(reader.poll().get(), (Records{"one"}));
  EXPECT_EQ(reader.poll().get(), Records{});
  append("two");
  append("three");
  EXPECT_EQ(reader.poll().get(), (Records{"two", "three"}));
}

TEST_F(JournalReaderTest, FollowsThroughSegmentsAndTerms) {
  auto reader = JournalReader::open(folder.path()).get();
  Records expected;
  Records seen;
  for (int i = 0; i < 30; ++i) {
    expected.push_back("record " + std::to_string(i));
    append(expected.back());
    if (i % 7 == 6) restart_writer();
    if (i % 4 != 3) continue;
    for (auto& record : reader.poll().get()) seen.push_back(record);
    EXPECT_EQ(seen, expected);
  }
}

TEST_F(JournalReaderTest, GoesOnFromAPosition) {
  append("one");
  auto first = JournalReader::open(folder.path()).get();
  first.poll().get();
  append("two");
  restart_writer();
  append("three");
  auto second = JournalReader::resume(folder.path(), first.position()).get();
  EXPECT_EQ(second.poll().get(), (Records{"two", "three"}));
}

TEST_F(JournalReaderTest, StartsFromTheNewestSnapshot) {
  append("one");
  ASSERT_TRUE(writer.journal->snapshot("state"));
  append("two");
  auto reader = JournalReader::open(folder.path()).get();
  EXPECT_EQ(reader.snapshot(), "state");
  EXPECT_EQ(reader.poll().get(), (Records{"two"}));
}

TEST_F(JournalReaderTest, SaysThatASnapshotReplacedWhatItHadNotRead) {
  append("one");
  auto reader = JournalReader::open(folder.path()).get();
  const JournalPosition start = reader.position();
  ASSERT_TRUE(writer.journal->snapshot("state"));
  EXPECT_EQ(reader.poll().error().code, Code::NotFound);
  EXPECT_EQ(JournalReader::resume(folder.path(), start).error().code, Code::NotFound);
}

TEST_F(JournalReaderTest, WaitsForARecordThatIsHalfWritten) {
  append("one");
  const auto path = folder.path() / "000001-000001.rtj";
  const std::string whole = read_file(path).get();
  auto reader = JournalReader::open(folder.path()).get();
  std::filesystem::resize_file(path, whole.size() - 1);
  EXPECT_EQ(reader.poll().get(), Records{});
  EXPECT_EQ(reader.unfinished_bytes(), 18u);
  const Fd file = open_file(path, O_WRONLY).get();
  ASSERT_TRUE(write_all(file.get(), whole, path));
  EXPECT_EQ(reader.poll().get(), (Records{"one"}));
  EXPECT_EQ(reader.unfinished_bytes(), 0u);
}

TEST_F(JournalReaderTest, RefusesToGoOnAfterRecordsThatANewTermDeclaredVoid) {
  append("one");
  std::filesystem::remove(folder.path() / "lock");  // as on a file system without locks
  const auto newer = open_journal(folder.path()).get();
  // The old writer's append comes after the new term's start, and this reader took it for valid before it saw that.
  const auto path = folder.path() / "000002-000001.rtj";
  std::filesystem::rename(path, folder.path() / "hidden");
  append("void");
  auto reader = JournalReader::open(folder.path()).get();
  EXPECT_EQ(reader.poll().get(), (Records{"one", "void"}));
  std::filesystem::rename(folder.path() / "hidden", path);
  EXPECT_EQ(reader.poll().error().code, Code::Refused);
}

TEST(JournalReaderWithoutAJournal, SaysThatThereIsNoFolder) {
  EXPECT_EQ(JournalReader::open("/nowhere/journal").error().code, Code::NotFound);
}

TEST(JournalReaderWithoutAJournal, WaitsInAnEmptyFolder) {
  const TemporaryFolder folder;
  auto reader = JournalReader::open(folder.path()).get();
  EXPECT_EQ(reader.poll().get(), Records{});
  const auto writer = open_journal(folder.path()).get();
  ASSERT_TRUE(writer.journal->append("one"));
  EXPECT_EQ(reader.poll().get(), (Records{"one"}));
}

}  // namespace
}  // namespace rt
