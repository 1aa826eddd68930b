#include "rt/runtime/device/cpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "rt/runtime/base/files.h"
#include "rt/runtime/device/cgroup.h"

namespace rt {
namespace fs = std::filesystem;
namespace {

constexpr double kNoQuota = std::numeric_limits<double>::infinity();

// Takes a number off the front of `text`; -1 where there is none.
int take_number(std::string_view& text) {
  int number = -1;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return code == std::errc{} ? number : -1;
}

bool take(std::string_view& text, char wanted) {
  if (!text.starts_with(wanted)) return false;
  text.remove_prefix(1);
  return true;
}

// The quota that one level sets, in cores. Version 2 holds both numbers in a file, or the word max.
double quota_of(const fs::path& level, int version) {
  std::vector<std::string> words = read_words(level / (version == 2 ? "cpu.max" : "cpu.cfs_quota_us"));
  if (version == 1) {
    for (auto& word : read_words(level / "cpu.cfs_period_us")) words.push_back(std::move(word));
  }
  if (words.size() != 2 || words[0] == "max") return kNoQuota;
  const double quota = std::strtod(words[0].c_str(), nullptr);
  const double period = std::strtod(words[1].c_str(), nullptr);
  return quota > 0 && period > 0 ? quota / period : kNoQuota;  // version 1 says -1 for none
}

Result<std::vector<int>> allowed_cores(const fs::path& status) {
  RT_TRY(text, read_file(status));
  constexpr std::string_view kKey = "Cpus_allowed_list:";
  const auto at = text.find(kKey);
  if (at == std::string::npos) return Error{Code::NotFound, status.string() + " has no line Cpus_allowed_list"};
  const auto from = text.find_first_not_of(" \t", at + kKey.size());
  return parse_cpu_list(std::string_view(text).substr(from, text.find('\n', from) - from));
}

}  // namespace

double CpuShare::usable() const { return std::min(static_cast<double>(cores.size()), quota); }

int CpuShare::threads() const { return std::max(1, static_cast<int>(std::ceil(usable()))); }

Result<std::vector<int>> parse_cpu_list(std::string_view text) {
  std::vector<int> cores;
  std::string_view rest = text;
  do {
    const int first = take_number(rest);
    const int last = take(rest, '-') ? take_number(rest) : first;
    if (first < 0 || last < first)
      return Error{Code::Invalid, fmt::format("'{}' is no list of cores like 0-3,8", text)};
    for (int core = first; core <= last; ++core) cores.push_back(core);
  } while (take(rest, ','));
  if (!rest.empty()) return Error{Code::Invalid, fmt::format("'{}' is no list of cores like 0-3,8", text)};
  return cores;
}

Result<CpuShare> usable_cpus(const fs::path& root) {
  CpuShare share;
  RT_TRY(cores, allowed_cores(root / "proc/self/status"));
  share.cores = std::move(cores);
  RT_TRY(cgroup, find_cgroup(root, "cpu"));
  if (cgroup.notice) share.notices.push_back(*cgroup.notice);
  for (const fs::path& level : cgroup.levels) share.quota = std::min(share.quota, quota_of(level, cgroup.version));
  return share;
}

}  // namespace rt
