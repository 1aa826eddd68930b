#pragma once
// TrialState: what the journal says of one trial. A plain value; History (history.h) alone changes it.

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "rt/tune/records.h"

namespace rt::tune {

struct HeldCheckpoint {
  Checkpoint checkpoint;
  std::int64_t step = 0;
  std::optional<double> value;  // of the sweep's metric at that step, where the checkpoint came with a report
};

struct TrialState {
  TrialIndex index = 0;
  std::string id;
  std::string parameters;  // a JSON object
  std::uint64_t seed = 0;
  int generation = 0;  // the newest; 0: never launched

  std::int64_t reports = 0;
  std::int64_t step = 0;        // of the last report; 0 where there was none
  Metrics metrics;              // of the last report
  std::optional<double> value;  // of the sweep's metric in it
  std::optional<double> best;   // in any report; never nan
  std::int64_t best_step = 0;
  double seconds = 0;  // of training, at the last report

  int failures = 0;
  int losses = 0;  // failures in a row, since the last report, that weren't charged
  std::optional<RankFailed> last_failure;

  std::vector<HeldCheckpoint> held;  // in the order of their records; the last is where a new generation starts
  std::set<std::string> dropped;     // names whose folders are to be gone

  std::optional<EndReason> owed_end;  // a record has decided it, TrialEnded isn't written yet
  std::optional<EndReason> ended;

  const HeldCheckpoint* newest() const { return held.empty() ? nullptr : &held.back(); }
  bool has_reported(std::int64_t at) const { return reports > 0 && at <= step; }
};

}  // namespace rt::tune
