#pragma once
// Gang: the ranks of a test, as threads of one process that meet in a store in memory, or as processes that meet in a
// file. For tests only.

#include <ATen/Parallel.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <thread>
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <vector>

#include "rt/actors/collective/group.h"
#include "rt/actors/collective/store.h"

namespace rt::train::testing {

inline RankContext context_of(int rank, int size, KeyValue& values, std::uint64_t seed = 1) {
  RankContext context;
  context.trial_id = "test";
  context.rank = rank;
  context.size = size;
  context.seed = seed;
  context.store = &values;
  return context;
}

// Runs `body(context)` for each rank at once, and returns when all have.
inline void run_threads(int size, const std::function<void(RankContext&)>& body) {
  const auto values = key_value_over(c10::make_intrusive<c10d::HashStore>());
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < size; ++rank)
    ranks.emplace_back([&, rank] {
      auto context = context_of(rank, size, *values);
      body(context);
    });
  for (auto& rank : ranks) rank.join();
}

// The same in forked processes; `body` returns the exit status. Returns what waitpid said of each.
inline std::vector<int> run_processes(int size, const std::string& file, const std::function<int(RankContext&)>& body) {
  std::vector<pid_t> children;
  for (int rank = 0; rank < size; ++rank) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(60);                 // nothing may outlive its test
      ::signal(SIGPIPE, SIG_IGN);  // as in a worker: Gloo writes to peers that are gone
      at::set_num_threads(1);      // a fork has lost the threads of the parent's OpenMP team, and would wait for them
      const auto values = key_value_over(c10::make_intrusive<c10d::FileStore>(file, size));
      auto context = context_of(rank, size, *values);
      ::_exit(body(context));
    }
    children.push_back(child);
  }
  std::vector<int> statuses;
  for (const pid_t child : children) {
    int status = -1;
    ::waitpid(child, &status, 0);
    statuses.push_back(status);
  }
  return statuses;
}

}  // namespace rt::train::testing
