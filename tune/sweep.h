#pragma once
// Sweep: what a sweep file says, checked. The file is a superset of W&B's (docs/sweep-file.md is its reference).
//
// A value: read once, then constant. Pure but for read_sweep_file.
// Bounds: a file of 1 MiB, 100 levels, 100,000 entries after its aliases are followed. What is beyond is a mistake, not
// a crash and not a long wait.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rt/runtime/base/result.h"
#include "rt/tune/asha.h"
#include "rt/tune/mistake.h"
#include "rt/tune/space.h"

namespace rt::tune {

enum class Method { Grid, Random };

struct Metric {
  std::string name;  // a key of the trials' reports
  Goal goal = Goal::Minimize;
  std::optional<double> target;  // once a trial has reached it no new trial is started
};

struct Resources {
  int ranks = 1;                     // processes of a trial's gang
  std::optional<int> gpus_per_rank;  // nothing: auto, one GPU where the cluster has GPUs, else none
  int cpus_per_rank = 1;
};

// When a trial has had enough, whichever comes first.
struct Stop {
  std::optional<std::int64_t> iterations;  // the step of its report
  std::optional<double> seconds;           // since the trial was first started, pauses left out
  std::optional<double> bound;             // of the sweep's metric: as good as this, in the goal's direction
};

struct CheckpointPolicy {
  std::optional<std::int64_t> every;  // steps; nothing: at the scheduler's rungs and at the end only
  int keep = 1;                       // complete checkpoints of a trial that are left lying, the newest
};

struct Sweep {
  std::string name;
  std::string description;
  std::string trainable;             // a C++ trainable in `program`; empty: a program in any language
  std::string program;               // as written in the file; empty only where `command` doesn't use it
  std::vector<std::string> command;  // empty: the default for `program`, see command.h
  Method method = Method::Random;
  std::optional<Metric> metric;  // always there where `scheduler` or `stop.bound` is
  Space space;
  std::optional<AshaOptions> asha;      // nothing: Fifo
  std::optional<std::int64_t> run_cap;  // at most so many trials
  std::uint64_t seed = 0;
  Resources resources;
  int max_failures = 0;  // of one trial: how often it is started again after a rank of it failed
  Stop stop;
  CheckpointPolicy checkpoint;
};

struct ParsedSweep {
  std::optional<Sweep> sweep;        // there exactly where `mistakes` is empty
  std::vector<Mistake> mistakes;     // in the file's order
  std::vector<std::string> notices;  // "sweep.yaml:3: 'entity' has no meaning here and is ignored"
};

// `file` is the name that messages carry.
ParsedSweep parse_sweep(std::string_view text, const std::string& file);

// What a sweep still needs before it can be run here, though W&B finds its file valid: something to start, an end of
// the search, an end of each trial of a C++ trainable. Asked for apart from parsing, so that options of a command line
// (say, a run cap) can fill it in first. Empty: it can be run.
std::vector<Mistake> missing_to_run(const Sweep& sweep, const std::string& file);

// The file's text. NotFound, Invalid (larger than 1 MiB, a folder), System.
Result<std::string> read_sweep_file(const std::filesystem::path& file);

}  // namespace rt::tune
