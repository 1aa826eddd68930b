#pragma once
// What a sweep's trials need on this machine: the job program, the interpreter, GPUs or CPUs.

#include <filesystem>
#include <string>

#include "rt/actors/cluster_parts.h"
#include "rt/tune/gang.h"
#include "rt/tune/sweep.h"

namespace rt {

struct FoundProgram {
  std::filesystem::path job;          // what hosts the ranks: the trainable's program, or rtctl itself
  std::filesystem::path program;      // what the sweep names, resolved; may be empty (a bare command)
  std::filesystem::path interpreter;  // for ${interpreter}; may be empty
};

// Code::NotFound, before anything is started.
Result<FoundProgram> find_sweep_program(const tune::Sweep& sweep, const std::filesystem::path& sweep_folder);

// GPUs a rank: as the sweep says, or by `auto`: one where the cluster has GPUs, else none. Code::Invalid where the
// cluster doesn't have what the sweep asks for.
Result<int> gpus_per_rank(const tune::Sweep& sweep, const ClusterTotals& totals);

Result<tune::TrialPlan> make_plan(const tune::Sweep& sweep, const FoundProgram& found, int gpus,
                                  const std::filesystem::path& directory, const Cluster::Parts& cluster);

}  // namespace rt
