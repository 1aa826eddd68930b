#pragma once
// ThreadStacks: the native stacks of this process's own threads, taken by itself, also of those that loop for ever.
//
// Each thread is sent SIGURG (which nobody misses: by default it is ignored) and its handler writes its return
// addresses into memory that is there already; nothing is allocated or locked there. A thread that doesn't answer in
// time (it blocks the signal, or the kernel holds it) has its reason in place of its frames, and a late answer is
// dropped. A call of the system that the signal interrupts is begun again where Linux does so (SA_RESTART); others, as
// nanosleep, return early with EINTR.
// Owner: no state but the handler, which stays. Thread: any; one request at a time, others wait.

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "rt/runtime/base/result.h"

namespace rt {

struct ThreadStack {
  std::int64_t thread = 0;  // its number (tid); the process's own number is its first thread's
  std::string name;
  std::string problem;                   // why there are no frames
  std::vector<std::uint64_t> addresses;  // of instructions, the innermost call's first
};

// Code::Refused: the program handles SIGURG itself. The first kMostThreads threads.
Result<std::vector<ThreadStack>> thread_stacks(std::chrono::milliseconds limit = std::chrono::milliseconds(500));

inline constexpr std::size_t kMostThreads = 256, kMostFrames = 96;

// Before the first request, where threads are few and nothing is under way: what a handler mustn't do for the first
// time. thread_stacks does it itself where nobody did.
void prepare_thread_stacks();

}  // namespace rt
