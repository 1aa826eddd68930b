#pragma once
// What the tuner is told and what it asks for: plain values between the pure tuner (tuner.h) and the runner that holds
// its gangs, processes and files.
//
// A generation (from 1) is one forming of a trial's gang. An event of an older one is counted and changes nothing.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "rt/tune/records.h"

namespace rt::tune {

// ---- events

// How many gangs the cluster can hold at once, now. Told at the start and whenever it changes.
struct SlotsChanged {
  int slots = 1;
};

struct GangGranted {  // the lease of a RequestGang
  TrialIndex trial = 0;
};

// A gang of this sweep can never be placed here. The sweep stops cleanly and can be resumed elsewhere.
struct LeaseRefused {
  std::string reason;
};

struct RanksReady {  // all ranks have set up and loaded
  TrialIndex trial = 0;
  int generation = 0;
};

// Rank 0's report. Of a trainable: the answer to Step. Of a program: whenever it likes, `step` its own count.
struct Report {
  TrialIndex trial = 0;
  int generation = 0;
  std::int64_t step = 0;
  Metrics metrics;                       // empty: no report, only `finished`
  bool finished = false;                 // of a program: it ended by itself, with exit code 0
  std::optional<Checkpoint> checkpoint;  // complete and durable; of a program that named one
};

struct Saved {  // the answer to Save: complete, durable, under its final name
  TrialIndex trial = 0;
  int generation = 0;
  std::int64_t step = 0;
  Checkpoint checkpoint;
};

struct RankDied {  // or threw, or left with another exit code than 0
  TrialIndex trial = 0;
  int generation = 0;
  int rank = 0;
  std::string cause;
  std::string log_tail;
  bool gang_lost = false;  // the lease is gone too: the runner has released it
  bool rt_lost = false;    // a process of rt's own was lost under it: no fault of the trial's
};

// Instead of RanksReady: the checkpoint to restore is damaged or gone. No rank was started.
struct CheckpointLost {
  TrialIndex trial = 0;
  int generation = 0;
  std::string name;
  std::string cause;
};

// The answer to StopTrial: no process of this generation is left. A program's last reports come before it.
struct TrialStopped {
  TrialIndex trial = 0;
  int generation = 0;
};

struct StopRequested {};  // Ctrl-C

using Event = std::variant<SlotsChanged, GangGranted, LeaseRefused, RanksReady, Report, Saved, RankDied, CheckpointLost,
                           TrialStopped, StopRequested>;

// ---- commands

struct RequestGang {  // answered by GangGranted or LeaseRefused; requests are granted in their order
  TrialIndex trial = 0;
  bool operator==(const RequestGang&) const = default;
};

struct Launch {  // on the trial's gang; answered by RanksReady, CheckpointLost or RankDied
  TrialIndex trial = 0;
  int generation = 0;
  std::string restore;  // checkpoint to load; empty: from the start
  std::int64_t restore_step = 0;
  bool operator==(const Launch&) const = default;
};

struct Step {  // of a trainable; answered by Report or RankDied
  TrialIndex trial = 0;
  std::int64_t step = 0;
  bool operator==(const Step&) const = default;
};

// Answered by Saved or RankDied. A folder of that name that is there already is what an earlier try left over: it is in
// no record and gets replaced.
struct Save {
  TrialIndex trial = 0;
  std::int64_t step = 0;
  std::string name;
  bool operator==(const Save&) const = default;
};

struct StopTrial {  // answered by TrialStopped, also where all its processes are dead already
  TrialIndex trial = 0;
  int generation = 0;
  bool operator==(const StopTrial&) const = default;
};

struct ReleaseGang {  // or takes back a RequestGang that isn't answered yet
  TrialIndex trial = 0;
  bool operator==(const ReleaseGang&) const = default;
};

struct DropCheckpoint {  // deletes the folder; one that isn't there is fine
  TrialIndex trial = 0;
  std::string name;
  bool operator==(const DropCheckpoint&) const = default;
};

struct Finish {  // nothing runs any more: the sweep has ended or was interrupted
  bool operator==(const Finish&) const = default;
};

using Command = std::variant<RequestGang, Launch, Step, Save, StopTrial, ReleaseGang, DropCheckpoint, Finish>;

// `records` go to the journal first, in this order; then the commands are carried out, in this order.
struct Outcome {
  std::vector<Record> records;
  std::vector<Command> commands;
};

}  // namespace rt::tune
