#pragma once
// Results: what a person asks of a sweep, under way or done: one row a trial and the best of them.
//
// A value made from the History; to_json and to_csv write it in a schema that docs/results.md fixes: fields are only
// ever added. Rows are in the order of the trials' indices.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "rt/tune/history.h"

namespace rt::tune {

struct Row {
  std::string trial;                      // "0004"
  std::string state;                      // waiting, running, unfinished (nobody runs it), completed, stopped, failed
  std::string reason;                     // why it ended, in words; empty before
  Value parameters;                       // an object
  std::optional<std::int64_t> iteration;  // the step of its last report
  std::optional<double> metric;           // the sweep's, in the last report
  std::optional<double> best_metric;      // in any report
  std::optional<std::int64_t> best_iteration;
  std::optional<int> rung;  // how many it has reached; nothing without a scheduler
  double seconds = 0;       // of training
  int failures = 0;
  std::string checkpoint;  // its best one that is kept, else its newest; relative to the sweep's folder; may be empty
  std::int64_t checkpoint_iteration = 0;    // of that checkpoint
  std::optional<double> checkpoint_metric;  // the sweep's, at that iteration
  std::string error;                        // cause of the last failure; empty: none
};

struct Results {
  std::string name;
  std::string metric;  // empty where the sweep names none
  Goal goal = Goal::Minimize;
  std::string state;  // running, interrupted, unfinished, finished
  std::string cause;  // of an interruption or an early end
  std::optional<std::int64_t> planned;
  std::vector<Row> rows;
  std::optional<std::size_t> best;  // index into rows; nan is never best, ties go to the lower index
};

// `is_running`: of a trial that hasn't ended; empty where no tuner runs the sweep.
Results results_of(const History& history, const std::function<bool(TrialIndex)>& is_running = {});

std::string to_json(const Results& results);
std::string to_csv(const Results& results);  // RFC 4180; parameters in columns of their own

// Leaves of a parameters object by their path: {"opt": {"lr": 0.1}} -> ("opt.lr", 0.1). A list is a leaf.
std::vector<std::pair<std::string, Value>> flatten(const Value& parameters);

// "trials/0004/checkpoints/NAME", below the sweep's folder.
std::string checkpoint_path(const std::string& trial_id, const std::string& name);

}  // namespace rt::tune
