#include <dirent.h>
#include <sys/resource.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include "rt/actors/collective/backend.h"

namespace rt::train {
namespace {

constexpr int kLowestShare = 19;  // nice

// Gloo's TCP loop thread is handed the same event over and over while a worker holds the pair's lock, and on a core
// that it shares with that worker it burns the rest of the time slice: 4 ms. With the lowest share of its core it
// yields to the worker. Not SCHED_IDLE, which does as well on an idle machine: beside strangers that compute, it gets
// no time at all, and a step took four times as long as with nice 19 (both measured). Needs no privilege.
void calm_loop_threads() {
  const std::unique_ptr<DIR, int (*)(DIR*)> tasks(::opendir("/proc/self/task"), ::closedir);
  if (!tasks) return;
  while (const dirent* task = ::readdir(tasks.get())) {
    const int thread = std::atoi(task->d_name);
    std::string name;
    std::ifstream("/proc/self/task/" + std::string(task->d_name) + "/comm") >> name;
    if (thread > 0 && name == "gloo_tcp_loop") ::setpriority(PRIO_PROCESS, static_cast<id_t>(thread), kLowestShare);
  }
}

}  // namespace

c10::intrusive_ptr<c10d::Backend> make_gloo(const BackendPlan& plan) {
  // Never Gloo's default device: where the host's name doesn't resolve, it takes loopback without a word.
  auto options = c10d::ProcessGroupGloo::Options::create(plan.connect_deadline);
  options->devices = {c10d::ProcessGroupGloo::createDeviceForHostname(plan.address)};
  auto gloo = c10::make_intrusive<c10d::ProcessGroupGloo>(plan.store, plan.rank, plan.size, std::move(options));
  calm_loop_threads();
  return gloo;
}

}  // namespace rt::train
