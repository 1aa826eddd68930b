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

OomKills::OomKills(const fs::path& root) : file_(root / "proc/vmstat") {
  const auto group = find_cgroup(root, "memory");
  if (!group || group->levels.empty()) return;
  const fs::path own = group->levels.front() / (group->version == 1 ? "memory.oom_control" : "memory.events");
  if (counter_in(own)) file_ = own;
}

std::uint64_t OomKills::count() const { return counter_in(file_).value_or(0); }

}  // namespace rt
