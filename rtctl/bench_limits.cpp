#include "rt/rtctl/bench_limits.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <string>

#include "rt/runtime/base/process_tree.h"
#include "rt/runtime/net/futex.h"

namespace rt {
namespace {

double cpu_seconds(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string word;
  for (int i = 0; i < 13; ++i) file >> word;  // the program's name has no space
  double user = 0, system = 0;
  file >> user >> system;
  return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

}  // namespace

BarePeer::BarePeer(int rounds, bool spins)
    : spins_(spins),
      mapping_(map_shared(make_shared_memory("rt-bench", 4096).get().get(), 0, 4096).get()),
      words_(reinterpret_cast<Words*>(mapping_.data())) {
  peer_ = ::fork();
  if (peer_ != 0) return;
  for (std::uint32_t i = 1; i <= static_cast<std::uint32_t>(rounds); ++i) {
    wait(words_->there, i);
    store(words_->back, i);
  }
  ::_exit(0);
}

BarePeer::~BarePeer() { ::waitpid(peer_, nullptr, 0); }

void BarePeer::round_trip() {
  store(words_->there, ++round_);
  wait(words_->back, round_);
}

void BarePeer::wait(std::atomic<std::uint32_t>& word, std::uint32_t value) const {
  for (std::uint32_t seen; (seen = word.load(std::memory_order_acquire)) != value;)
    if (!spins_) futex_wait(word, seen, std::chrono::seconds(1));
}

void BarePeer::store(std::atomic<std::uint32_t>& word, std::uint32_t value) const {
  word.store(value, std::memory_order_release);
  if (!spins_) futex_wake(word);
}

BusyProcesses::BusyProcesses(int count) {
  for (int i = 0; i < count; ++i) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (volatile unsigned turns = 0;;) turns = turns + 1;
    }
    pids_.push_back(pid);
  }
}

BusyProcesses::~BusyProcesses() {
  for (const pid_t pid : pids_) {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
}

double cpu_seconds_of_all() {
  double sum = cpu_seconds(::getpid());
  for (const pid_t pid : descendants_of(::getpid())) sum += cpu_seconds(pid);
  return sum;
}

std::pair<double, double> memory_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/smaps_rollup");
  std::pair<double, double> megabytes{};
  for (std::string line; std::getline(file, line);) {
    double kilobytes = 0;
    if (std::sscanf(line.c_str(), "Private_Dirty: %lf", &kilobytes) == 1) megabytes.first = kilobytes / 1e3;
    if (std::sscanf(line.c_str(), "Pss: %lf", &kilobytes) == 1) megabytes.second = kilobytes / 1e3;
  }
  return megabytes;
}

}  // namespace rt
