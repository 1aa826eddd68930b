#include "rt/runtime/base/process_tree.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

#include "rt/runtime/base/spawn_process.h"
#include "rt/runtime/base/temporary_folder.h"

namespace rt {
namespace {

using namespace std::chrono_literals;

// Each process of the script writes its id as a line to the fifo; returns `count` of them once all are there.
std::set<pid_t> start_tree(const TemporaryFolder& folder, const std::string& script, int count) {
  const auto fifo = folder.path() / "ids";
  EXPECT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const Fd keeps_it_open(::open(fifo.c_str(), O_RDWR | O_CLOEXEC));
  const auto child = spawn_process({.argv = {"sh", "-c", script},
                                    .environment = {"PATH=/usr/bin:/bin", "IDS=" + fifo.string()},
                                    .log = (folder.path() / "log").string()});
  EXPECT_TRUE(child);
  std::set<pid_t> ids;
  std::ifstream lines(fifo);
  for (pid_t id = 0; count-- > 0 && lines >> id;) ids.insert(id);
  return ids;
}

bool is_gone(pid_t pid) { return ::kill(pid, 0) != 0 && errno == ESRCH; }

TEST(KillDescendants, ReachesDoubleForkedGrandchildrenInSessionsOfTheirOwn) {
  const TemporaryFolder folder;
  ASSERT_TRUE(adopt_orphans());
  const auto ids = start_tree(folder,
                              "echo $$ > $IDS; (setsid sh -c 'echo $$ > $IDS; exec sleep 1000' &);"
                              "setsid sh -c 'echo $$ > $IDS; trap \"\" TERM HUP; sleep 1000 & wait' & wait",
                              3);
  ASSERT_EQ(ids.size(), 3);
  const auto killed = kill_descendants({}, 10s);
  ASSERT_TRUE(killed) << killed.error().message;
  for (const pid_t id : ids) EXPECT_TRUE(is_gone(id));
  EXPECT_TRUE(children().empty());
}

TEST(KillDescendants, ReachesAStoppedProcessAndAZombie) {
  const TemporaryFolder folder;
  ASSERT_TRUE(adopt_orphans());
  const auto ids = start_tree(folder, "true & echo $$ > $IDS; kill -STOP $$", 1);
  ASSERT_TRUE(kill_descendants({}, 10s));
  EXPECT_TRUE(is_gone(*ids.begin()));
}

TEST(KillDescendants, SparesWhatItIsTold) {
  const TemporaryFolder folder;
  const TemporaryFolder other;
  ASSERT_TRUE(adopt_orphans());
  const auto spared = start_tree(folder, "sh -c 'echo $$ > $IDS; exec sleep 1000' & echo $$ > $IDS; wait", 2);
  const std::set<pid_t> mine = children();
  ASSERT_EQ(mine.size(), 1);
  const auto ids = start_tree(other, "echo $$ > $IDS; exec sleep 1000", 1);
  ASSERT_TRUE(kill_descendants(mine, 10s));
  EXPECT_TRUE(is_gone(*ids.begin()));
  for (const pid_t id : spared) EXPECT_FALSE(is_gone(id));
  ASSERT_TRUE(kill_descendants({}, 10s));
}

TEST(ReapChildren, TakesOnlyThoseThatEnded) {
  const TemporaryFolder folder;
  const auto ids = start_tree(folder, "echo $$ > $IDS; exec sleep 1000", 1);
  const pid_t ended = ::fork();
  if (ended == 0) ::_exit(0);
  siginfo_t info;
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(ended), &info, WEXITED | WNOWAIT), 0);
  reap_children({ended});
  EXPECT_EQ(children().count(ended), 1);
  reap_children({});
  EXPECT_EQ(children(), ids);
  ASSERT_TRUE(kill_descendants({}, 10s));
}

TEST(KillTree, KillsOneTreeWholeAndNoOther) {
  const TemporaryFolder folder;
  const TemporaryFolder other;
  ASSERT_TRUE(adopt_orphans());
  const auto spared = start_tree(other, "echo $$ > $IDS; exec sleep 1000", 1);
  const auto tree = start_tree(folder, "setsid sh -c 'echo $$ > $IDS; exec sleep 1000' & echo $$ > $IDS; wait", 2);
  for (const pid_t root : children())
    if (!spared.contains(root)) kill_tree(root);
  ASSERT_TRUE(kill_descendants(spared, 10s));  // nothing is left to kill: reaps
  for (const pid_t id : tree) EXPECT_TRUE(is_gone(id));
  EXPECT_FALSE(is_gone(*spared.begin()));
  ASSERT_TRUE(kill_descendants({}, 10s));
}

}  // namespace
}  // namespace rt
