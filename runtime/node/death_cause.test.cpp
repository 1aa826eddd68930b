#include "rt/runtime/node/death_cause.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "rt/runtime/base/process_tree.h"
#include "rt/runtime/node/tree_memory.h"

namespace rt {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

struct Case {
  const char* name;
  SeenDeath seen;
  wire::DeathKind kind;
  std::string cause;
  friend std::ostream& operator<<(std::ostream& out, const Case& value) { return out << value.name; }
};

class DeathCause : public ::testing::TestWithParam<Case> {};

TEST_P(DeathCause, SaysWhatItWas) {
  const Death death = death_cause(GetParam().seen);
  EXPECT_EQ(death.kind, GetParam().kind);
  EXPECT_EQ(death.cause, GetParam().cause);
}

// Statuses as Linux makes them: an exit code in the second byte, a signal in the first.
INSTANTIATE_TEST_SUITE_P(
    Deaths, DeathCause,
    ::testing::Values(
        Case{"ExitCode", {.status = 3 << 8}, wire::DeathKind::EXITED, "exit code 3"},
        Case{"Signal", {.status = SIGSEGV}, wire::DeathKind::SIGNALLED, "signal 11 (SIGSEGV)"},
        Case{"OverItsLimit",
             {.status = SIGKILL, .memory_used = kGiB * 21 / 10, .memory_limit = 2 * kGiB, .kernel_ran_out = true},
             wire::DeathKind::OUT_OF_MEMORY,
             "out of memory: it used 2.1 GiB, its limit is 2.0 GiB"},
        Case{"KilledByTheKernel",
             {.status = SIGKILL, .kernel_ran_out = true, .node_memory = 16 * kGiB},
             wire::DeathKind::OUT_OF_MEMORY,
             "out of memory: the kernel killed it, as this node's 16.0 GiB were used up; reserve with `memory` what an "
             "actor needs, so that fewer run here at once"},
        Case{"KilledByAnybody", {.status = SIGKILL}, wire::DeathKind::SIGNALLED, "signal 9 (SIGKILL)"},
        Case{"KilledAsAskedWhileOthersRanOut",
             {.status = SIGKILL, .kill_asked = true, .kernel_ran_out = true},
             wire::DeathKind::SIGNALLED,
             "signal 9 (SIGKILL)"},
        Case{"AnotherSignalWhileOthersRanOut",
             {.status = SIGSEGV, .kernel_ran_out = true},
             wire::DeathKind::SIGNALLED,
             "signal 11 (SIGSEGV)"}),
    [](const auto& info) { return info.param.name; });

TEST(TreeMemory, IsThatOfAllBelowToo) {
  constexpr std::size_t kBytes = std::size_t{64} << 20;
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::fork() == 0) {
      std::memset(::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 1, kBytes);
      (void)!::write(ready[1], "x", 1);
    }
    while (true) ::pause();
  }
  char byte;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_GT(tree_memory(child), kBytes);
  EXPECT_EQ(tree_memory(999'999'999), 0u);
  kill_tree(child);
  ::waitpid(child, nullptr, 0);
  ::close(ready[0]);
  ::close(ready[1]);
}

}  // namespace
}  // namespace rt
