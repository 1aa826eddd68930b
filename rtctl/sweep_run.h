#pragma once
// One run of a sweep: reads the file (or the journal of an earlier run), starts a cluster, runs it, says what came out.

#include <string>

#include "rt/rtctl/view.h"

namespace rt {

struct SweepRunOptions {
  std::string file;       // a new sweep
  std::string resume;     // or the folder of one to go on with
  std::string directory;  // of a new sweep; empty: rt-results/NAME-TIME
  int cpus = 0;
  int simulate_gpus = 0;
  Loudness loudness = Loudness::Normal;
};

int run_sweep(const SweepRunOptions& options);  // the exit code

}  // namespace rt
