#pragma once
// RankContext: what one rank of a trial is told about itself. tune fills it, train and rl read it, and a user's
// trainable gets it in `setup`: the three know each other by this struct only.
//
// Owner: the rank's process, for as long as the trainable lives. Nothing here changes during a generation.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "rt/actors/key_value.h"
#include "rt/actors/parameters.h"

namespace rt {

enum class DeviceKind { Cpu, Gpu };

struct RankContext {
  std::string trial_id;    // e.g. "0007", unique in its sweep
  int rank = 0;            // 0 .. size-1
  int size = 1;            // ranks in the gang
  int generation = 1;      // grows each time the gang is formed anew; part of every key in the store
  std::uint64_t seed = 0;  // the trial's, the same on all ranks: initial weights and data order come from it
  DeviceKind device = DeviceKind::Cpu;
  std::vector<std::string> gpus;    // UUIDs this rank may use, also in CUDA_VISIBLE_DEVICES; empty on CPU
  int threads = 1;                  // CPU threads this rank may use (cpus_per_rank)
  std::vector<int> cpuset;          // cores this rank is pinned to; empty where slots are simulated or shared
  Parameters parameters;            // this trial's point of the search space
  std::filesystem::path directory;  // the trial's folder; checkpoints and logs lie below it
  KeyValue* store = nullptr;        // the gang's key-value space; keys of a group start with group_prefix()

  std::string group_prefix() const { return "trial/" + trial_id + "/gen/" + std::to_string(generation) + "/"; }
};

}  // namespace rt
