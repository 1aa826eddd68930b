#pragma once
// Asha: asynchronous successive halving, the stopping variant. A trial that reaches a rung goes on if its value is not
// worse than the cutoff of the values recorded there so far; it never waits for others.
// Source: Li et al. 2020 (arXiv 1810.05934) for the rungs; the rule is that of Ray's AsyncHyperBandScheduler with one
// bracket, decision for decision:
//   - rungs lie at min_iter * eta^k below max_iter; a report counts at the highest rung it has reached and in which its
//     trial isn't recorded yet, and at that one only;
//   - the cutoff is the (1 - 1/eta) percentile, linear between neighbours, of the rung's earlier values; strictly worse
//     stops; the first in a rung goes on; nan goes on, and later cutoffs leave it out;
//   - at max_iter a trial stops and is recorded nowhere.
//
// Owner: the tuner. Thread: the owner's. Invariant: a trial is in a rung at most once.
// Danger: a program that reports rarely jumps over rungs; a rung jumped over takes the value of a later report.

#include <map>
#include <vector>

#include "rt/tune/scheduler.h"

namespace rt::tune {

struct AshaOptions {
  std::int64_t min_iter = 1;  // >= 1: no trial is judged before
  std::int64_t max_iter = 0;  // >= min_iter
  double eta = 3;             // >= 1.1: about one trial in eta goes on from each rung
  bool operator==(const AshaOptions&) const = default;
};

class Asha final : public Scheduler {
 public:
  Asha(AshaOptions options, Goal goal);

  Decision on_report(std::int64_t trial, std::int64_t step, double value) override;
  std::optional<std::int64_t> next_rung(std::int64_t step) const override;
  int rungs_reached(std::int64_t step) const override;

 private:
  struct Rung {
    double milestone;                       // a report at a step >= this one has reached the rung
    std::map<std::int64_t, double> scores;  // by trial; higher is better
  };

  AshaOptions options_;
  Goal goal_;
  std::vector<Rung> rungs_;  // lowest first
};

}  // namespace rt::tune
