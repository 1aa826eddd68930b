#pragma once
// What a node offers: what this machine lets us use, or what the user said there is.

#include <cstdint>
#include <string>
#include <vector>

#include "rt/runtime/base/result.h"

namespace rt {

struct Wanted {
  int cpus = 0;              // 0: what this machine has
  int simulated_gpus = 0;    // 0: what this machine has
  std::uint64_t memory = 0;  // bytes; 0: what this machine has
};

struct Offer {
  std::vector<int> cores;  // one a CPU slot; -1: one that the user made up
  std::vector<std::string> gpus;
  std::uint64_t memory = 0;
};

Result<Offer> node_offer(const Wanted& wanted);

}  // namespace rt
