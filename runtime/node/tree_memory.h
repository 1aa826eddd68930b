#pragma once
// How much memory a process and all below it hold, for limits that no control group enforces.

#include <sys/types.h>

#include <cstdint>

namespace rt {

// The sum of the resident sets, in bytes: what two of them share counts for each. Some 20 us a process.
std::uint64_t tree_memory(pid_t root);

}  // namespace rt
