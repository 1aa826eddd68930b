#pragma once
// rtctl bench tune: tune.noop_trials, tune.noop_trials_torch (1/s), tune.sleep320_16slots (s).
//
// Each is a sweep as rtctl tune runs it: lease, fork, group of one, report, decision, checkpoint and journal included,
// no process used twice; clocked from the first lease to the last record in the journal.

#include <string>

namespace rt {

struct BenchTuneOptions {
  int trials = 600;
  int slots = 8;
  bool quick = false;
  std::string only;  // one figure, by its name; empty: all
};

int bench_tune(const BenchTuneOptions& options);  // the exit code

}  // namespace rt
