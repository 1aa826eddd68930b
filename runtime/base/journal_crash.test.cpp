// The journal's writer is killed at each of its crash points; what it had acknowledged is read afterwards.
// Only children write here: a crash point counts from the first pass of the process or of those it was forked from.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rt/runtime/base/journal.h"
#include "rt/runtime/base/journal_reader.h"
#include "rt/runtime/base/temporary_folder.h"

namespace rt {
namespace {

constexpr int kEvents = 40;
constexpr JournalOptions kSmallSegments{.segment_bytes = 200};

struct Case {
  const char* point;
  int pass;
  int unacknowledged;  // records that are read although their append never returned
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.point << " pass " << c.pass; }

std::string event(int number) { return "event " + std::to_string(number); }

// Appends all events, a snapshot after each tenth; one byte into `acknowledged` for each append that returned.
int run_writer(const std::filesystem::path& folder, int acknowledged) {
  auto opened = open_journal(folder, kSmallSegments);
  if (!opened) return 1;
  for (int i = 1; i <= kEvents; ++i) {
    if (!opened->journal->append(event(i))) return 2;
    if (::write(acknowledged, "", 1) != 1) return 3;
    if (i % 10 == 0 && !opened->journal->snapshot(std::to_string(i))) return 4;
  }
  return 0;
}

template <class Function>
int status_of_child(Function body) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(body());
  int status = 0;
  ::waitpid(pid, &status, 0);
  return status;
}

class JournalCrash : public ::testing::TestWithParam<Case> {
 protected:
  // How many events the journal holds; each must be the right one.
  int events_on_disk() {
    auto reader = JournalReader::open(folder.path()).get();
    int count = reader.snapshot() ? std::stoi(*reader.snapshot()) : 0;
    for (const auto& record : reader.poll().get()) EXPECT_EQ(record, event(++count));
    unfinished = reader.unfinished_bytes();
    return count;
  }
  TemporaryFolder folder;
  std::uint64_t unfinished = 0;
};

TEST_P(JournalCrash, LosesNothingThatWasAcknowledged) {
  const Case& at = GetParam();
  int acknowledged[2];
  ASSERT_EQ(::pipe(acknowledged), 0);
  const int status = status_of_child([&] {
    ::setenv("RT_CRASH_AT", (std::string(at.point) + ":" + std::to_string(at.pass)).c_str(), 1);
    return run_writer(folder.path(), acknowledged[1]);
  });
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "never came there, status " << status;
  ::close(acknowledged[1]);
  char bytes[kEvents];
  const auto count = static_cast<int>(::read(acknowledged[0], bytes, sizeof bytes));
  ::close(acknowledged[0]);

  EXPECT_EQ(events_on_disk(), count + at.unacknowledged);
  EXPECT_EQ(unfinished > 0, at.point == std::string_view("journal.append.torn"));

  const int next = count + at.unacknowledged + 1;
  ASSERT_EQ(status_of_child([&] {
              auto opened = open_journal(folder.path(), kSmallSegments);
              return opened && opened->journal->append(event(next)) ? 0 : 1;
            }),
            0);
  EXPECT_EQ(events_on_disk(), next);
}

// The first segment is created when the journal is opened; later passes are rotations in an append or a snapshot.
INSTANTIATE_TEST_SUITE_P(
    EachPoint, JournalCrash,
    testing::Values(Case{"journal.append.before", 1, 0}, Case{"journal.append.before", 14, 0},
                    Case{"journal.append.torn", 1, 0}, Case{"journal.append.torn", 9, 0},
                    Case{"journal.append.torn", 25, 0}, Case{"journal.append.after", 1, 1},
                    Case{"journal.append.after", 10, 1}, Case{"journal.append.after", 33, 1},
                    Case{"journal.rotate.after_create", 1, 0}, Case{"journal.rotate.after_create", 2, 0},
                    Case{"journal.rotate.after_create", 3, 0}, Case{"journal.rotate.after_create", 6, 0},
                    Case{"journal.snapshot.before_rename", 1, 0}, Case{"journal.snapshot.before_rename", 3, 0},
                    Case{"journal.snapshot.after_rename", 1, 0}, Case{"journal.snapshot.after_rename", 4, 0}));

}  // namespace
}  // namespace rt
