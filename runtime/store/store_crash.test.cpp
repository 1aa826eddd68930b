// A process is killed at each point where it changes the store; the agent's side cleans up, and what another process
// holds is whole. Only children pass the points: see base/journal_crash.test.cpp.
#include <signal.h>
#include <sys/wait.h>

#include <cstdlib>

#include "rt/runtime/store/store_fixture.h"

namespace rt::testing {
namespace {

struct Case {
  const char* point;
  int pass;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.point << " pass " << c.pass; }

class StoreCrash : public ::testing::TestWithParam<Case> {
 protected:
  template <class Body>
  static int status_of_child(Body body) {
    const pid_t pid = ::fork();
    if (pid == 0) ::_exit(body());
    int status = 0;
    ::waitpid(pid, &status, 0);
    return status;
  }
  std::unique_ptr<store::Sweeper> sweeper = store::Sweeper::make(8 << 20).get();
  std::shared_ptr<Store> enter(pid_t pid) { return Store::open(sweeper->path(), sweeper->enter(pid), 0).get(); }
};

// What any process does: makes objects, gives one up, gets many references, passes and receives, drops.
int use(Store& store, Store& other) {
  const std::string bytes(30'000, 'x');
  for (int round = 0; round < 3; ++round) {
    { const auto draft = store.draft(50'000).get(); }
    Large object = store.put(bytes.data(), bytes.size()).get();
    std::vector<Large> more;
    for (int i = 0; i < 60; ++i) more.push_back(store.find(object->id()).get());
    const auto passed = store.pass(*object, other.slot());
    const auto back = other.pass(*other.find(object->id()).get(), store.slot());
    if (back) object = store.receive(*back, other.slot()).get();
    more.clear();
    if (passed) store.take_back(*passed, other.slot());
  }
  return 0;
}

TEST_P(StoreCrash, LeavesNothingBehind) {
  const auto maker = enter(1), reader = enter(2);
  const int killed = status_of_child([&] {
    ::setenv("RT_CRASH_AT", (std::string(GetParam().point) + ":" + std::to_string(GetParam().pass)).c_str(), 1);
    return use(*maker, *reader);
  });
  ASSERT_TRUE(WIFSIGNALED(killed)) << "the point was never passed";
  EXPECT_EQ(WTERMSIG(killed), SIGKILL);
  const int checked = status_of_child([&] {
    sweeper->bury(1);
    reader->drop_unread(maker->slot());
    sweeper->bury(2);
    if (sweeper->objects() != 0) return 1;
    if (sweeper->used() != 0) return 2;
    const auto next = enter(3);  // and all entries can be had again
    std::vector<Large> all;
    while (auto draft = next->draft(1, std::chrono::milliseconds(0))) all.push_back(std::move(*draft).seal());
    return all.size() == (8u << 20) / store::kBlock ? 0 : 3;
  });
  EXPECT_TRUE(WIFEXITED(checked));
  EXPECT_EQ(WEXITSTATUS(checked), 0) << "1: an object, 2: blocks, 3: an entry";
}

INSTANTIATE_TEST_SUITE_P(
    At, StoreCrash,
    ::testing::Values(Case{"store.begun", 1}, Case{"store.begun", 3}, Case{"store.taking_blocks", 1},
                      Case{"store.taking_blocks", 4}, Case{"store.writing", 2}, Case{"store.before_seal", 1},
                      Case{"store.after_seal", 2}, Case{"store.holder_added", 1}, Case{"store.holder_added", 40},
                      Case{"store.appended", 1}, Case{"store.appended", 2}, Case{"store.passed", 1},
                      Case{"store.received", 1}, Case{"store.holder_dropped", 5}, Case{"store.holder_dropped", 63},
                      Case{"store.freeing", 1}, Case{"store.freeing", 2}, Case{"store.giving_blocks_back", 1},
                      Case{"store.giving_blocks_back", 2}));

}  // namespace
}  // namespace rt::testing
