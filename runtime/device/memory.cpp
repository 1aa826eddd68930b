#include "rt/runtime/device/memory.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>

#include "rt/runtime/base/files.h"
#include "rt/runtime/device/cgroup.h"

namespace rt {
namespace fs = std::filesystem;
namespace {

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

// "max", "unlimited" and what isn't there are no limit.
std::uint64_t parse_bytes(std::string_view text) {
  std::uint64_t bytes = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  return code == std::errc{} ? bytes : kUnlimited;
}

// The number after `key` in a file of lines "key   number ...".
std::uint64_t number_after(const std::string& text, std::string_view key) {
  const auto at = text.find(key);
  if (at == std::string::npos) return kUnlimited;
  const auto from = text.find_first_not_of(" \t", at + key.size());
  return from == std::string::npos ? kUnlimited : parse_bytes(std::string_view(text).substr(from));
}

std::uint64_t limit_in(const fs::path& file) {
  const auto words = read_words(file);
  return words.empty() ? kUnlimited : parse_bytes(words[0]);
}

std::uint64_t limit_of(const fs::path& level, int version) {
  if (version == 1) return limit_in(level / "memory.limit_in_bytes");  // a huge number is its word for none
  return std::min(limit_in(level / "memory.max"), limit_in(level / "memory.high"));
}

}  // namespace

Result<MemoryShare> usable_memory(const fs::path& root) {
  RT_TRY(machine, read_file(root / "proc/meminfo"));
  RT_TRY(limits, read_file(root / "proc/self/limits"));
  const std::uint64_t total_kib = number_after(machine, "MemTotal:");
  if (total_kib == kUnlimited) return Error{Code::NotFound, (root / "proc/meminfo").string() + " has no line MemTotal"};

  MemoryShare share{std::min(total_kib * 1024, number_after(limits, "Max address space")), {}};
  RT_TRY(cgroup, find_cgroup(root, "memory"));
  if (cgroup.notice) share.notices.push_back(*cgroup.notice);
  for (const fs::path& level : cgroup.levels) share.bytes = std::min(share.bytes, limit_of(level, cgroup.version));
  return share;
}

}  // namespace rt
