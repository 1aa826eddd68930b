#pragma once
// What a figure is measured against, and beside: the machine's raw bounds, processes that are busy, what processes use.

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "rt/runtime/net/shared_memory.h"

namespace rt {

// Another process that answers each change of a word by another one's: by spinning, or by a futex.
class BarePeer {
 public:
  BarePeer(int rounds, bool spins);  // its end is after so many
  BarePeer(const BarePeer&) = delete;
  BarePeer& operator=(const BarePeer&) = delete;
  ~BarePeer();
  void round_trip();

 private:
  struct Words {
    alignas(64) std::atomic<std::uint32_t> there;
    alignas(64) std::atomic<std::uint32_t> back;
  };
  void wait(std::atomic<std::uint32_t>& word, std::uint32_t value) const;
  void store(std::atomic<std::uint32_t>& word, std::uint32_t value) const;

  const bool spins_;
  const Mapping mapping_;
  Words* const words_;
  std::uint32_t round_ = 0;
  pid_t peer_ = 0;
};

// Processes that do nothing but use a core each.
class BusyProcesses {
 public:
  explicit BusyProcesses(int count);
  BusyProcesses(const BusyProcesses&) = delete;
  BusyProcesses& operator=(const BusyProcesses&) = delete;
  ~BusyProcesses();

 private:
  std::vector<pid_t> pids_;
};

double cpu_seconds_of_all();  // of this process and all below it, since they began

// Private dirty memory and proportional set, in MB.
std::pair<double, double> memory_of(pid_t pid);

}  // namespace rt
