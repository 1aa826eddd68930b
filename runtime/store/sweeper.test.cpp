#include "rt/runtime/store/sweeper.h"

#include <signal.h>
#include <sys/wait.h>

#include <random>
#include <set>

#include "rt/runtime/store/store_fixture.h"

namespace rt::testing {
namespace {

using Sweeping = StoreTest;

TEST_F(Sweeping, DropsWhatADeadProcessHeldAndNoMore) {
  const Large kept = put(*actor, "kept");
  const ObjectId id = kept->id();
  std::vector<Large> held{driver->find(id).get(), put(*driver, "lost")};
  const ObjectId lost = held[1]->id();
  sweeper->bury(1);
  EXPECT_EQ(actor->find(id).get()->bytes(), "kept");
  EXPECT_FALSE(actor->find(lost));
  EXPECT_EQ(sweeper->objects(), 1u);
}

TEST_F(Sweeping, FreesWhatADeadProcessWasMaking) {
  const auto draft = driver->draft(1 << 20).get();
  EXPECT_GT(sweeper->used(), 0u);
  sweeper->bury(1);
  EXPECT_TRUE(is_empty());
}

TEST_F(Sweeping, DropsWhatWasOnItsWayToADeadProcess) {
  Large sent = put(*driver, "hello");
  ASSERT_TRUE(driver->pass(*sent, actor->slot()));
  sent.reset();
  EXPECT_EQ(sweeper->objects(), 1u);
  sweeper->bury(2);
  EXPECT_TRUE(is_empty());
}

TEST_F(Sweeping, LeavesWhatADeadProcessSentUntilItsReaderHasReadItAll) {
  Large sent = put(*driver, "hello");
  ASSERT_TRUE(driver->pass(*sent, actor->slot()));
  sent.reset();
  const std::uint32_t slot = driver->slot();
  sweeper->bury(1);
  EXPECT_EQ(sweeper->objects(), 1u);
  EXPECT_TRUE(actor->is_dead(slot));
  EXPECT_NE(enter(3)->slot(), slot) << "the message still names it";
  actor->drop_unread(slot);
  EXPECT_TRUE(is_empty());
  EXPECT_EQ(enter(4)->slot(), slot);
}

TEST_F(Sweeping, TellsAProcessFromAnOlderOneOfItsNumber) {
  const Large held = put(*driver, "held");
  const auto again = enter(1);
  EXPECT_FALSE(again->find(held->id()));
  EXPECT_EQ(actor->slot_of(1), again->slot());
}

TEST_F(Sweeping, KnowsProcessesByTheirNumbers) {
  EXPECT_EQ(driver->slot_of(2), actor->slot());
  sweeper->bury(2);
  EXPECT_EQ(driver->slot_of(2), 0u);
}

TEST_F(Sweeping, GivesPagesBackLateAndNotThoseToKeep) {
  Large large = put(*driver, pattern(10 << 20));
  const Large small = put(*driver, "small");  // behind it
  large.reset();
  const std::uint64_t before = sweeper->resident();
  sweeper->trim(4 << 20);
  EXPECT_EQ(sweeper->resident(), before);
  sweeper->trim(4 << 20);
  EXPECT_EQ(sweeper->resident(), std::uint64_t{6 << 20}) << "4 MiB, and the segment of what lives";
  EXPECT_EQ(small->bytes(), "small");
  EXPECT_TRUE(put(*driver, pattern(10 << 20))->bytes() == pattern(10 << 20));
}

TEST_F(Sweeping, HasNoMoreSlotsThanThereAre) {
  std::uint32_t last = 0;
  for (pid_t pid = 10; pid < 10 + static_cast<pid_t>(store::kMostProcesses); ++pid) last = sweeper->enter(pid);
  EXPECT_EQ(last, 0u);
  sweeper->bury(4000);
  EXPECT_NE(sweeper->enter(100'000), 0u);
}

// Processes that put, find, pass and drop as fast as they can are killed at random moments. Whatever they were about,
// nothing of it is left, and what others hold is whole.
class KillsAtRandom : public StoreTest, public ::testing::WithParamInterface<unsigned> {
 protected:
  static constexpr int kWorkers = 3;
  struct Board {  // what the workers tell each other: the ids of objects, which may be gone
    std::atomic<std::uint64_t> generation[64]{};
    std::atomic<std::uint32_t> entry[64]{};
    std::atomic<std::uint64_t> steps{0};
  };

  pid_t start(unsigned seed) {
    const pid_t pid = ::fork();
    if (pid != 0) return pid;
    const pid_t self = ::getpid();
    while (driver->slot_of(self) == 0) ::sched_yield();  // until the agent's side has let it in
    const auto store = Store::open(sweeper->path(), driver->slot_of(self), 0).get();
    work(*store, seed);
    ::_exit(0);
  }

  void work(Store& store, unsigned seed) {
    std::minstd_rand random(seed);
    std::vector<Large> held(40);
    while (true) {
      const auto at = random() % 64;
      Large& mine = held[random() % held.size()];
      if (random() % 3 == 0) {
        auto draft = store.draft(1 + random() % 100'000, std::chrono::milliseconds(0));
        if (!draft) continue;
        std::memset(draft->bytes(), static_cast<int>(draft->size() % 251), draft->size());
        mine = std::move(*draft).seal();
        board->entry[at] = mine->id().entry;
        board->generation[at] = mine->id().generation;
      } else if (auto found = store.find({board->generation[at], 0, board->entry[at]})) {
        const std::string_view bytes = (*found)->bytes();
        for (const char byte : {bytes.front(), bytes.back()})
          if (static_cast<unsigned char>(byte) != bytes.size() % 251) ::_exit(1);
        mine = *found;
        const std::uint32_t to = 1 + random() % 6;
        if (to != store.slot()) (void)store.pass(*mine, to);  // who never reads it
      }
      board->steps.fetch_add(1, std::memory_order_relaxed);
    }
  }

  Mapping memory = map_shared(make_shared_memory("board", 4096).get().get(), 0, 4096).get();
  Board* const board = new (memory.data()) Board;
};

TEST_P(KillsAtRandom, LeaveNothingAndHarmNobody) {
  std::minstd_rand random(GetParam());
  const Large kept = put(*driver, pattern(1 << 20));
  std::vector<pid_t> pids;
  const auto add = [&] {
    pids.push_back(start(static_cast<unsigned>(random())));
    ASSERT_NE(sweeper->enter(pids.back()), 0u);
  };
  for (int i = 0; i < kWorkers; ++i) add();
  for (int kill = 0; kill < 60; ++kill) {
    const std::uint64_t until = board->steps + random() % 300;
    while (board->steps < until) ::sched_yield();
    const std::size_t victim = random() % pids.size();
    ::kill(pids[victim], SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(pids[victim], &status, 0), pids[victim]);
    ASSERT_TRUE(WIFSIGNALED(status)) << "it read bytes that nobody wrote";
    sweeper->bury(pids[victim]);
    pids.erase(pids.begin() + static_cast<long>(victim));
    add();
  }
  std::set<std::uint32_t> slots;
  for (const pid_t pid : pids) {
    slots.insert(driver->slot_of(pid));
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    sweeper->bury(pid);
  }
  for (std::uint32_t sender = 1; sender < 100; ++sender)
    for (const auto& store : {driver, actor}) store->drop_unread(sender);
  EXPECT_EQ(sweeper->objects(), 1u);
  EXPECT_EQ(sweeper->used(), std::uint64_t{1} << 20);
  EXPECT_TRUE(kept->bytes() == pattern(1 << 20));
}

INSTANTIATE_TEST_SUITE_P(Seed, KillsAtRandom, ::testing::Range(1u, 9u));

}  // namespace
}  // namespace rt::testing
