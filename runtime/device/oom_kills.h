#pragma once
// OomKills: how many processes the kernel has ended for want of memory, where that can be told.
//
// From our own control group's memory.events (v2) or memory.oom_control (v1), which count its processes alone; without
// such a group from /proc/vmstat, which counts the whole machine's. A counter that grew while a process of ours died of
// SIGKILL says what it died of; that is a conclusion, not a proof, where several died at once.
// Owner: none. Thread: any. `root` is "/" but for tests (cgroup.h).

#include <cstdint>
#include <filesystem>

namespace rt {

std::uint64_t kernel_oom_kills(const std::filesystem::path& root = "/");  // 0 where no counter is to be found

}  // namespace rt
