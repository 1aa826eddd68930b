@0xa1c9e57d3b0846f2;
# The records of a sweep's journal (DIR/tune): what happened, in order, each written before its effect. A sweep's state
# is the fold of its records and nothing else, so these structs are the format that `--resume` and `show` depend on.
#
# A field or a kind of record is only ever added. A reader that meets a kind it doesn't know refuses the journal and
# names its own `format` and the record's.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("rt::wire");

const tuneFormat :UInt32 = 1;

struct TuneRecord {
  format @0 :UInt32;           # tuneFormat of the program that wrote this record
  union {
    sweepStarted @1 :SweepStarted;
    resumed @2 :Resumed;
    trialCreated @3 :TrialCreated;
    generationStarted @4 :GenerationStarted;
    reported @5 :Reported;
    checkpointed @6 :Checkpointed;
    rankFailed @7 :RankFailed;
    trialEnded @8 :TrialEnded;
    checkpointDropped @9 :CheckpointDropped;
    interrupted @10 :Interrupted;
    sweepEnded @11 :SweepEnded;
  }
}

struct SweepStarted {          # always the first record
  text @0 :Text;               # the sweep file, whole
  path @1 :Text;               # where it was read from
  seed @2 :UInt64;
  program @3 :Text;            # path of the job program
  programHash @4 :Text;        # of its content
  timeMs @5 :UInt64;           # since the Unix epoch
}

struct Resumed {               # a new tuner took over; processes of the runs before are dead
  runId @0 :Text;
  term @1 :UInt64;
  timeMs @2 :UInt64;
}

struct TrialCreated {
  trial @0 :UInt64;            # index, from 0, without gaps
  id @1 :Text;                 # "0001": folder and name
  parameters @2 :Text;         # a JSON object
  seed @3 :UInt64;
}

struct GenerationStarted {     # the ranks of a trial are about to be launched
  trial @0 :UInt64;
  generation @1 :UInt32;       # from 1, without gaps
  restore @2 :Text;            # checkpoint to go on from; empty: from the start
  restoreStep @3 :UInt64;
}

struct Metric {
  name @0 :Text;
  value @1 :Float64;           # binary: nan, infinities and the last bit survive
}

struct SavedFile {
  name @0 :Text;               # below the checkpoint's folder
  size @1 :UInt64;
  crc32c @2 :UInt32;
}

struct Checkpoint {
  name @0 :Text;               # folder below the trial's checkpoints
  files @1 :List(SavedFile);
}

enum TuneVerdict {
  continue @0;
  stop @1;                     # the scheduler's
  complete @2;                 # the scheduler's max_iter
  condition @3;                # one of the sweep's `stop` conditions
  target @4;                   # metric.target: ends the whole sweep
}

struct Reported {              # score, checkpoint and verdict of a step are one record
  trial @0 :UInt64;
  generation @1 :UInt32;
  step @2 :UInt64;
  metrics @3 :List(Metric);
  checkpoint @4 :Checkpoint;   # null: none was taken
  verdict @5 :TuneVerdict;
  seconds @6 :Float64;         # of training in this trial so far, over its generations
}

struct Checkpointed {          # a checkpoint of a step that is already recorded, or that has no report
  trial @0 :UInt64;
  generation @1 :UInt32;
  step @2 :UInt64;
  checkpoint @3 :Checkpoint;
}

struct RankFailed {
  trial @0 :UInt64;
  generation @1 :UInt32;
  rank @2 :UInt32;
  cause @3 :Text;
  logTail @4 :Text;
  final @5 :Bool;              # no further try
  uncharged @6 :Bool;          # rt's own process was lost under it: no try of the trial's
}

enum TuneEnd {
  completed @0;
  stoppedByScheduler @1;
  stopCondition @2;
  programEnded @3;
  failed @4;
  targetReached @5;
  targetElsewhere @6;
  givenUp @7;                  # the sweep ended early under it
}

struct TrialEnded {            # once a trial
  trial @0 :UInt64;
  reason @1 :TuneEnd;
}

struct CheckpointDropped {     # its folder is deleted after this record
  trial @0 :UInt64;
  name @1 :Text;
  cause @2 :Text;              # empty: newer or better ones are kept; else why it is of no use
}

struct Interrupted {           # stopped cleanly, to be resumed
  cause @0 :Text;
}

struct SweepEnded {            # nothing follows
  hasBest @0 :Bool;
  best @1 :UInt64;
  cause @2 :Text;              # empty: every trial is done
}
