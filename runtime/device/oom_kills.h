#pragma once
// OomKills: how many processes the kernel has ended for want of memory, where that can be told.
//
// From our own control group's memory.events (v2) or memory.oom_control (v1), which count its processes alone; without
// such a group from /proc/vmstat, which counts the whole machine's. A counter that grew while a process of ours died of
// SIGKILL says what it died of; that is a conclusion, not a proof, where several died at once.
// Owner: who asks. Thread: any. `root` is "/" but for tests (cgroup.h).

#include <cstdint>
#include <filesystem>

namespace rt {

class OomKills {
 public:
  explicit OomKills(const std::filesystem::path& root = "/");  // finds the counter
  std::uint64_t count() const;                                 // 0 where there is none

 private:
  std::filesystem::path file_;
};

}  // namespace rt
