// What every Journal promises, held against each implementation.
#include <gtest/gtest.h>

#include "rt/runtime/base/journal.h"
#include "rt/runtime/base/memory_journal.h"
#include "rt/runtime/base/temporary_folder.h"

namespace rt {
namespace {

using Records = std::vector<std::string>;

// A place where a journal can be opened again and again.
class Place {
 public:
  virtual ~Place() = default;
  virtual OpenedJournal open() = 0;
};

class FilePlace : public Place {
 public:
  OpenedJournal open() override { return open_journal(folder_.path() / "journal", {.segment_bytes = 100}).get(); }

 private:
  TemporaryFolder folder_;
};

class MemoryPlace : public Place {
 public:
  OpenedJournal open() override { return open_memory_journal(disk_); }

 private:
  MemoryDisk disk_;
};

template <class P>
class JournalConformance : public ::testing::Test {
 protected:
  void append(std::string_view record) { ASSERT_TRUE(opened.journal->append(record)); }
  void reopen() {
    opened.journal.reset();
    opened = place.open();
  }
  P place;
  OpenedJournal opened = place.open();
};

struct PlaceName {
  template <class P>
  static std::string GetName(int) {
    return std::is_same_v<P, FilePlace> ? "File" : "Memory";
  }
};
using Places = testing::Types<FilePlace, MemoryPlace>;
TYPED_TEST_SUITE(JournalConformance, Places, PlaceName);

TYPED_TEST(JournalConformance, IsEmptyAtFirstAndInItsFirstTerm) {
  EXPECT_EQ(this->opened.contents, JournalContents{});
  EXPECT_EQ(this->opened.term, 1u);
  EXPECT_TRUE(this->opened.notices.empty());
}

TYPED_TEST(JournalConformance, GivesTheRecordsBackInTheirOrder) {
  this->append("one");
  this->append("two");
  this->reopen();
  EXPECT_EQ(this->opened.contents, (JournalContents{{}, {"one", "two"}}));
}

TYPED_TEST(JournalConformance, KeepsAnyBytesAndEmptyRecords) {
  const std::string bytes("\0rt-journ\xff\n", 11);
  this->append(bytes);
  this->append("");
  this->reopen();
  EXPECT_EQ(this->opened.contents.records, (Records{bytes, ""}));
}

TYPED_TEST(JournalConformance, AppendsManyAsOne) {
  const std::string_view records[] = {"a", "b", "c"};
  ASSERT_TRUE(this->opened.journal->append_all(records));
  ASSERT_TRUE(this->opened.journal->append_all({}));
  this->reopen();
  EXPECT_EQ(this->opened.contents.records, (Records{"a", "b", "c"}));
}

TYPED_TEST(JournalConformance, EveryOpeningIsANewTermThatGoesOnAfterTheLast) {
  for (std::uint32_t term = 1; term <= 5; ++term) {
    EXPECT_EQ(this->opened.term, term);
    EXPECT_EQ(this->opened.contents.records.size(), term - 1);
    this->append("of term " + std::to_string(term));
    this->reopen();
  }
}

TYPED_TEST(JournalConformance, ASnapshotStandsForAllBeforeIt) {
  this->append("before");
  ASSERT_TRUE(this->opened.journal->snapshot("state"));
  this->append("after");
  this->reopen();
  EXPECT_EQ(this->opened.contents, (JournalContents{"state", {"after"}}));
}

TYPED_TEST(JournalConformance, TheNewestSnapshotCounts) {
  ASSERT_TRUE(this->opened.journal->snapshot("first"));
  this->append("between");
  ASSERT_TRUE(this->opened.journal->snapshot("second"));
  this->reopen();
  EXPECT_EQ(this->opened.contents, (JournalContents{"second", {}}));
}

TYPED_TEST(JournalConformance, ASnapshotOfAnEarlierTermStillCounts) {
  ASSERT_TRUE(this->opened.journal->snapshot("state"));
  this->append("one");
  this->reopen();
  this->append("two");
  this->reopen();
  EXPECT_EQ(this->opened.contents, (JournalContents{"state", {"one", "two"}}));
}

TYPED_TEST(JournalConformance, HoldsManyRecordsOfManySizes) {
  Records expected;
  for (std::size_t size = 0; size < 300; size += 7) {
    expected.push_back(std::string(size, static_cast<char>('a' + size % 26)));
    this->append(expected.back());
  }
  ASSERT_TRUE(this->opened.journal->sync());
  this->reopen();
  EXPECT_EQ(this->opened.contents.records, expected);
}

}  // namespace
}  // namespace rt
