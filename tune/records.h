#pragma once
// The records of a sweep's journal as plain values, and their bytes (runtime/wire/tune.capnp, packed).
//
// Values: copied freely, no thread. A sweep's state is the fold of its records (history.h), so a record holds facts
// and verdicts, never something that could be asked again later with another answer.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "rt/actors/trainable.h"
#include "rt/runtime/base/result.h"

namespace rt::tune {

using TrialIndex = std::int64_t;  // from 0, in the order of creation

struct SavedFile {
  std::string name;  // below the checkpoint's folder
  std::uint64_t size = 0;
  std::uint32_t crc32c = 0;
  bool operator==(const SavedFile&) const = default;
};

struct Checkpoint {
  std::string name;  // folder below the trial's checkpoints
  std::vector<SavedFile> files;
  bool operator==(const Checkpoint&) const = default;
};

// What follows from a report: the scheduler's decision together with the sweep's own limits.
enum class Verdict {
  Continue,
  Stop,       // the scheduler's
  Complete,   // the scheduler's max_iter
  Condition,  // one of the sweep's `stop` conditions
  Target,     // metric.target: ends the whole sweep
};

enum class EndReason {
  Completed,
  StoppedByScheduler,
  StopCondition,
  ProgramEnded,     // by itself, with exit code 0
  Failed,           // more failures than max_failures, or one that no retry can mend
  TargetReached,    // by this trial
  TargetElsewhere,  // by another one
  GivenUp,          // the sweep ended early under it
};

const char* to_string(Verdict verdict);
const char* to_string(EndReason reason);

struct SweepStarted {  // always the first
  std::string text;    // the sweep file, whole
  std::string path;
  std::uint64_t seed = 0;
  std::string program;
  std::string program_hash;
  std::uint64_t time_ms = 0;  // since the Unix epoch
  bool operator==(const SweepStarted&) const = default;
};

struct Resumed {  // a new tuner took over; the processes of the runs before are dead
  std::string run_id;
  std::uint64_t term = 0;
  std::uint64_t time_ms = 0;
  bool operator==(const Resumed&) const = default;
};

struct TrialCreated {
  TrialIndex trial = 0;
  std::string id;          // "0001"
  std::string parameters;  // a JSON object
  std::uint64_t seed = 0;
  bool operator==(const TrialCreated&) const = default;
};

struct GenerationStarted {
  TrialIndex trial = 0;
  int generation = 0;   // from 1, without gaps
  std::string restore;  // checkpoint to go on from; empty: from the start
  std::int64_t restore_step = 0;
  bool operator==(const GenerationStarted&) const = default;
};

struct Reported {  // score, checkpoint and decision of a step are one record
  TrialIndex trial = 0;
  int generation = 0;
  std::int64_t step = 0;
  Metrics metrics;
  std::optional<Checkpoint> checkpoint;
  Verdict verdict = Verdict::Continue;
  double seconds = 0;  // of training in this trial so far, over its generations
  bool operator==(const Reported&) const = default;
};

struct Checkpointed {  // a checkpoint of a step that is already recorded, or that has no report
  TrialIndex trial = 0;
  int generation = 0;
  std::int64_t step = 0;
  Checkpoint checkpoint;
  bool operator==(const Checkpointed&) const = default;
};

struct RankFailed {
  static constexpr int kUncharged = 3;  // so many in a row, without a report between them
  TrialIndex trial = 0;
  int generation = 0;
  int rank = 0;
  std::string cause;
  std::string log_tail;
  bool final = false;      // no further try
  bool uncharged = false;  // rt's own process was lost under it: not one of the trial's failures
  bool operator==(const RankFailed&) const = default;
};

struct TrialEnded {  // once a trial
  TrialIndex trial = 0;
  EndReason reason = EndReason::Completed;
  bool operator==(const TrialEnded&) const = default;
};

struct CheckpointDropped {  // its folder is deleted after this record
  TrialIndex trial = 0;
  std::string name;
  std::string cause;  // empty: newer or better ones are kept; else why nothing can go on from it
  bool operator==(const CheckpointDropped&) const = default;
};

struct Interrupted {  // stopped cleanly, to be resumed
  std::string cause;
  bool operator==(const Interrupted&) const = default;
};

struct SweepEnded {  // nothing follows
  std::optional<TrialIndex> best;
  std::string cause;  // empty: every trial is done
  bool operator==(const SweepEnded&) const = default;
};

using Record = std::variant<SweepStarted, Resumed, TrialCreated, GenerationStarted, Reported, Checkpointed, RankFailed,
                            TrialEnded, CheckpointDropped, Interrupted, SweepEnded>;

// The record's kind and trial for a person: "Reported of trial 0003".
std::string describe(const Record& record);

std::string encode(const Record& record);

// Corrupt: not the bytes of a record. Refused: a kind or format that a newer program wrote; the message names both
// format numbers.
Result<Record> decode(std::string_view bytes);

// 0 -> "0001": trials are counted from 1 for people, as their folders are.
std::string trial_id(TrialIndex trial);

}  // namespace rt::tune
