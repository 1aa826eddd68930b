#include "rt/runtime/device/oom_kills.h"

#include <optional>

#include "rt/runtime/device/cgroup.h"

namespace rt {
namespace fs = std::filesystem;
namespace {

// The number after the word `oom_kill`.
std::optional<std::uint64_t> counter_in(const fs::path& file) {
  const auto words = read_words(file);
  for (std::size_t i = 0; i + 1 < words.size(); ++i)
    if (words[i] == "oom_kill") return std::strtoull(words[i + 1].c_str(), nullptr, 10);
  return std::nullopt;
}

}  // namespace

std::uint64_t kernel_oom_kills(const fs::path& root) {
  if (const auto group = find_cgroup(root, "memory"); group && !group->levels.empty())
    if (const auto count =
            counter_in(group->levels.front() / (group->version == 1 ? "memory.oom_control" : "memory.events")))
      return *count;
  return counter_in(root / "proc/vmstat").value_or(0);
}

}  // namespace rt
