#pragma once
// Cgroup: where the limits stand that the kernel holds this process to, in either version of control groups.
//
// Owner: none, pure but for reading. Thread: any. `root` is "/" but for tests, which lay out files as in /proc and /sys
// in a folder of their own.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rt/runtime/base/result.h"

namespace rt {

struct Cgroup {
  int version = 0;                            // 1 or 2; 0: the controller isn't in use
  std::vector<std::filesystem::path> levels;  // own folder first, then those above it up to the mount
  std::optional<std::string> notice;          // why the folders can't be told, so that a limit may go unseen
};

// The folders that hold our limits of `controller` ("cpu", "memory").
Result<Cgroup> find_cgroup(const std::filesystem::path& root, std::string_view controller);

// The words of a file; none where it isn't there, as a level without a limit has none.
std::vector<std::string> read_words(const std::filesystem::path& path);

}  // namespace rt
