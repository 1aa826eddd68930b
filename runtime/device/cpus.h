#pragma once
// CPUs: the cores that this process may use, which is what its node offers. Never the machine's count.
//
// The cores are those of the affinity (taskset, cpusets); how much of them is bounded by the cpu quota of every control
// group from our own up to the root. A quota may be a fraction of a core.
// Owner: a plain value. Thread: any. `root` is "/" but for tests (cgroup.h).

#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "rt/runtime/base/result.h"

namespace rt {

struct CpuShare {
  std::vector<int> cores;                                  // numbers as the kernel counts, ascending; at least one
  double quota = std::numeric_limits<double>::infinity();  // in cores; infinity: no limit
  std::vector<std::string> notices;                        // limits that can't be told, for a person

  double usable() const;  // in cores, the fraction kept: for the ledger
  int threads() const;    // the same rounded up: for thread pools
};

Result<CpuShare> usable_cpus(const std::filesystem::path& root = "/");

// The kernel's list format, "0-3,8". Invalid: anything else.
Result<std::vector<int>> parse_cpu_list(std::string_view text);

}  // namespace rt
