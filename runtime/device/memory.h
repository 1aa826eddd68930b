#pragma once
// Memory: how much of it this process and its children may use before the kernel ends them.
//
// The least of the machine's memory, the limits of every control group from our own up to the root, and RLIMIT_AS.
// Owner: a plain value. Thread: any. `root` is "/" but for tests (cgroup.h).

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "rt/runtime/base/result.h"

namespace rt {

struct MemoryShare {
  std::uint64_t bytes = 0;
  std::vector<std::string> notices;  // limits that can't be told, for a person
};

Result<MemoryShare> usable_memory(const std::filesystem::path& root = "/");

}  // namespace rt
