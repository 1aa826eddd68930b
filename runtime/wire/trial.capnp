@0xd6b3e0a7c5f14e21;
# What the tuner says to a rank of a trial. Spoken between two programs: rtctl (the tuner) and the job program (a rank),
# so it is fixed here and carries a version; all else between actors is compared by method table within one program.
#
# A rank is an actor of class "rt.trial". Its methods, by name: setup, step, save, stop. Each takes one of these structs
# and answers with one, in a TrialAnswer. A method that throws fails the call with its text.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("rt::wire");

const trialVersion :UInt32 = 2;

struct TrialAnswer {
  union {
    done @0 :Data;           # the bytes of the method's own struct
    noSpace @1 :Text;        # the disk is full: what said so. No fault of the trial's
  }
}

struct TrialSetup {
  version @0 :UInt32;
  trainable @1 :Text;        # name in the job program's table; empty for a program in any language
  trialId @2 :Text;
  rank @3 :UInt32;
  size @4 :UInt32;
  generation @5 :UInt32;
  seed @6 :UInt64;
  parameters @7 :Text;       # a JSON object
  directory @8 :Text;        # the trial's folder, which exists
  restore @9 :Text;          # checkpoint folder to go on from; empty: from the start
  step @10 :UInt64;          # the step of `restore`; 0 from the start
  argv @11 :List(Text);      # of a program in any language; empty for a trainable
  environment @12 :List(Text);  # NAME=VALUE, added to such a program's
  gpus @13 :List(Text);      # UUIDs
  threads @14 :UInt32;
  cpuset @15 :List(Int32);
  log @16 :Text;             # the rank's: a program's output goes there too
  pythonPath @17 :Text;      # the folder of rt.py
  masterAddress @18 :Text;   # of the gang's store, for programs of torchrun's kind; empty: there is none
  masterPort @19 :UInt16;
  maxRestarts @20 :UInt32;
}

struct TrialReady {
  pid @0 :UInt32;
}

struct TrialStep {
  step @0 :UInt64;           # the step that is asked for; a program in any language counts for itself
}

# A report. `finished` without metrics: the program ended by itself, all well.
struct TrialReport {
  step @0 :UInt64;
  metrics @1 :Text;          # a JSON object of numbers
  finished @2 :Bool;
  checkpoint @3 :Text;       # a folder below the trial's, complete, that a program named in its report
}

struct TrialSave {
  directory @0 :Text;        # exists; each rank writes its files into it and fsyncs them
}

struct TrialSaved {
}

struct TrialStop {
  deadlineMs @0 :UInt64;     # a program in any language gets the stop file, after this SIGTERM, then SIGKILL
}

struct TrialStopped {        # the program is dead; what it still reported is the answer to further calls of `step`
}
