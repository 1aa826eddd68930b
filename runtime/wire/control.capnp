@0xb1f6d2c48e7a9053;
# The control protocol: drivers and workers (clients) speak it with their node's agent, which passes requests up to the
# head and notices down. The head is the only allocator; the agent starts, watches and kills processes.
#
# Every frame on a control connection is one Control. `request` joins a Reply to what it answers; 0 wants no answer.
# The first frame of a connection is `hello`; a version other than one's own is refused naming both.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("rt::wire");

const protocolVersion :UInt32 = 4;

struct Control {
  request @0 :UInt64;
  union {
    reply @1 :Reply;

    # client or node -> agent or head
    hello @2 :Hello;
    lease @3 :LeaseRequest;          # answered when granted; may be pending for long
    releaseLease @4 :UInt64;         # kills what still runs in it; free when all of that is gone
    cancelLease @5 :UInt64;          # `request` of a lease still pending
    spawn @6 :Spawn;
    kill @7 :Kill;
    lookup @8 :ActorName;
    watch @9 :ActorRef;
    cluster @10 :Void;
    listActors @26 :Text;            # of a namespace; empty: of all
    supervise @27 :Supervise;
    keyValue @11 :KeyValueRequest;

    # worker -> head, answered before its process ends
    leaving @28 :Void;               # it ends because it wants to: no fault, and no restart
    constructorThrew @29 :Text;

    # head -> client
    actorStarted @12 :ActorStarted;
    actorDied @13 :ActorDied;

    # node -> head
    registerNode @14 :NodeFacts;
    workerStarted @15 :ActorStarted;
    workerExited @16 :ActorDied;
    clientLeft @17 :UInt64;          # 0: the agent itself, and so its node is lost
    driverJoined @30 :DriverJoined;

    # head -> node
    startWorker @18 :StartWorker;
    killWorker @19 :Kill;

    # agent -> worker
    stop @31 :Void;                  # it was asked to end: its stop token is set, and it leaves after its method

    # the head to itself
    tick @32 :Void;                  # time has passed; journalled, as any event

    # agent -> fork server and back, on the socket it was started with
    fork @20 :StartWorker;           # without an actor: one ahead, for any actor of its program
    forked @21 :Forked;
    exited @22 :Exited;
    killTree @23 :UInt32;            # pid
    ready @24 :ForkServerReady;

    # head -> node
    dropClient @25 :UInt64;          # it sent damaged bytes: its connection is to be closed

    # worker -> head -> the drivers, which print it
    say @33 :Text;

    # client -> head, which then tells it of all logs; and back
    followLogs @34 :Void;
    logBegins @35 :LogBegins;
  }
}

struct Hello {
  version @0 :UInt32;
  role @1 :Role;
  pid @2 :UInt32;
  actor @3 :UInt64;                  # of a worker
  incarnation @4 :UInt32;
  address @5 :Text;                  # where a worker listens for calls
  nameSpace @6 :Text;                # of a driver: where its actors' names stand; empty: "default"
  program @7 :Program;               # of a worker that was forked ahead: no actor's yet, it waits for a startWorker
  enum Role { driver @0; worker @1; node @2; }
}

struct Reply {
  union {
    error @0 :Failure;
    hello @1 :HelloReply;
    lease @2 :Lease;
    actor @3 :ActorStarted;
    cluster @4 :ClusterFacts;
    keyValue @5 :KeyValueReply;
    node @6 :NodeRegistered;
    done @7 :Void;
    actors @8 :List(ActorFacts);
    died @9 :ActorDied;              # to `watch`, of one that has ended already
  }
}

struct Failure {
  code @0 :UInt16;                   # rt::Code
  message @1 :Text;
}

struct HelloReply {
  client @0 :UInt64;
  node @1 :UInt32;
  runFolder @2 :Text;
  storePath @3 :Text;                # of the node's object store; empty: it has none
  storeSlot @4 :UInt32;              # this process's in it; 0: none
}

struct NodeFacts {
  version @0 :UInt32;
  name @1 :Text;
  cores @2 :List(Int32);             # one entry a CPU slot: the core's number, or -1 for a slot the user made up
  gpus @3 :List(Text);               # UUIDs; made-up ones start with "simulated-"
  pid @4 :UInt32;
  memory @5 :UInt64;                 # bytes
  resources @6 :List(Resource);      # what the user says there is besides
}

struct Resource {
  name @0 :Text;
  amount @1 :UInt64;
}

struct DriverJoined {
  client @0 :UInt64;
  pid @1 :UInt32;
  nameSpace @2 :Text;
}

struct NodeRegistered {
  node @0 :UInt32;
  term @1 :UInt64;
  firstClient @2 :UInt64;            # the node's block of client ids: 2^20 of them
}

# A gang: `size` bundles, all or nothing.
struct LeaseRequest {
  size @0 :UInt32;
  cpusPerBundle @1 :UInt32;
  gpusPerBundle @2 :UInt32;
  name @3 :Text;                     # for people: who asks
}

struct Bundle {
  node @0 :UInt32;
  cores @1 :List(Int32);
  gpus @2 :List(Text);
}

struct Lease {
  id @0 :UInt64;                     # never used twice
  bundles @1 :List(Bundle);
}

struct ActorRef {
  actor @0 :UInt64;
  incarnation @1 :UInt32;
}

struct ActorName {
  name @0 :Text;
  nameSpace @1 :Text;                # empty: the asker's
}

struct Kill {
  actor @0 :UInt64;
  incarnation @1 :UInt32;            # head -> node only
  deadlineMs @2 :UInt32;             # until then it may leave by itself; 0: SIGKILL at once
}

# More than `most` restarts within the window and it is given up. The first comes at once, each one after another of
# the same crash loop waits, twice as long each time.
struct RestartPolicy {
  most @0 :UInt32;
  windowMs @1 :UInt64;               # 0: for life
  delayMs @2 :UInt64;                # before the second restart of a crash loop
  maxDelayMs @3 :UInt64;             # and an incarnation that lived longer than this ends the loop
}

enum Strategy { oneForOne @0; oneForAll @1; restForOne @2; }

struct Supervise {
  supervisor @0 :UInt64;             # chosen by the client, as an actor's id is
  strategy @1 :Strategy;
  restarts @2 :RestartPolicy;
  stopMs @3 :UInt32;                 # what a sibling that is restarted has to leave by itself
}

struct Program {
  path @0 :Text;
  hash @1 :Text;                     # of its content; two programs with one path are two programs
}

struct Spawn {
  actor @0 :UInt64;                  # chosen by the spawning client: its id * 2^24 + a counter
  class @1 :Text;
  arguments @2 :Data;                # the constructor's, encoded
  program @3 :Program;
  name @4 :Text;
  lease @5 :UInt64;                  # 0: none
  bundle @6 :UInt32;
  cpus @7 :UInt32;                   # without a lease: taken for the actor's life
  gpus @8 :UInt32;
  environment @9 :List(Text);
  directory @10 :Text;               # working folder; empty: the driver's
  log @11 :Text;                     # file for stdout and stderr, appended to; empty: one in the run folder
  restarts @12 :RestartPolicy;       # where it has no supervisor
  supervisor @13 :UInt64;            # 0: none
  nameSpace @14 :Text;               # empty: its spawner's
  detached @15 :Bool;                # lives on when its spawner has ended
  memory @16 :UInt64;                # bytes it reserves
  resources @17 :List(Resource);
  memoryLimit @18 :UInt64;           # bytes its process tree may use; 0: no limit
  cpuset @19 :List(Int32);           # cores it is pinned to; empty: those of its slots
  threads @20 :UInt32;               # 0: as many as its slots
  calls @21 :CallLimits;
  concurrency @22 :UInt32;           # threads that run its methods; 0 as 1
  groups @23 :List(ThreadGroup);     # further ones, for the methods that name them
}

# What every caller of an actor keeps to.
struct CallLimits {
  deadlineMs @0 :UInt64;             # of a call that has no other; 0: none
  mostPending @1 :UInt32;            # calls of one caller that aren't answered yet; 0: no bound
}

struct ThreadGroup {
  name @0 :Text;
  threads @1 :UInt32;
}

struct StartWorker {
  actor @0 :UInt64;
  incarnation @1 :UInt32;
  spawn @2 :Spawn;
  bundle @3 :Bundle;
}

struct ActorStarted {
  actor @0 :UInt64;
  incarnation @1 :UInt32;
  address @2 :Text;
  pid @3 :UInt32;
  client @4 :UInt64;                 # the worker's own client id
  log @5 :Text;                      # where its output goes
  logBegin @6 :UInt64;               # the log's size before this incarnation
  calls @7 :CallLimits;              # head -> client
}

# An incarnation writes into its log from there on.
struct LogBegins {
  actor @0 :UInt64;
  name @1 :Text;                     # its name, or its number
  pid @2 :UInt32;
  log @3 :Text;
  begin @4 :UInt64;                  # bytes
}

struct ActorDied {
  actor @0 :UInt64;
  incarnation @1 :UInt32;
  cause @2 :Text;                    # for people
  exitCode @3 :Int32;                # -1 where a signal ended it
  signal @4 :UInt32;
  killed @5 :Bool;                   # by rt, as it was asked to
  willRestart @6 :Bool;
  lastLines @7 :Text;                # of its log
  keeperLost @8 :Bool;               # its fork server, rt's own process, was lost under it: no fault of its own
  kind @9 :DeathKind;
  killedBy @10 :Text;                # who asked, where one did
  memoryUsed @11 :UInt64;            # of one that was out of memory, where it is known
  memoryLimit @12 :UInt64;
  restarts @13 :UInt32;              # so far, of its crash loop
  deadlinePassed @14 :Bool;          # it was asked to leave, hadn't by its deadline, and was killed
}

enum DeathKind {
  exited @0;
  signalled @1;
  outOfMemory @2;
  constructorThrew @3;
  killed @4;
  left @5;
  parentEnded @6;
  nodeLost @7;
  notStarted @8;
}

struct ActorFacts {
  actor @0 :UInt64;
  name @1 :Text;
  nameSpace @2 :Text;
  class @3 :Text;
  state @4 :State;
  node @5 :UInt32;
  pid @6 :UInt32;
  incarnation @7 :UInt32;
  detached @8 :Bool;
  log @9 :Text;                      # empty: the one that its node gives it
  lastError @10 :Text;               # what its last incarnation died of
  parent @11 :Text;                  # in words
  enum State { pending @0; starting @1; running @2; restarting @3; stopping @4; }
}

struct Forked {
  actor @0 :UInt64;
  incarnation @1 :UInt32;
  pid @2 :UInt32;
  error @3 :Text;
}

struct Exited {
  pid @0 :UInt32;
  status @1 :Int32;                  # as waitpid gives it
}

struct ForkServerReady {
  pid @0 :UInt32;
  version @1 :UInt32;
  error @2 :Text;                    # why it can't serve (its threads, say)
}

struct ClusterFacts {
  nodes @0 :UInt32;
  cpus @1 :UInt32;
  gpus @2 :UInt32;
  freeCpus @3 :UInt32;
  freeGpus @4 :UInt32;
  pendingLeases @5 :UInt32;
  memory @6 :UInt64;
  freeMemory @7 :UInt64;
}

struct KeyValueRequest {
  union {
    set @0 :KeyAndValue;
    get @1 :List(Text);              # answered when all keys are there, with the first one's value
    add @2 :KeyAndAmount;
    compareSet @3 :CompareSet;
    check @4 :List(Text);
    remove @5 :Text;
    cancel @6 :UInt64;               # a `get` by its request
  }
}
struct KeyAndValue { key @0 :Text; value @1 :Data; }
struct KeyAndAmount { key @0 :Text; amount @1 :Int64; }
struct CompareSet { key @0 :Text; expected @1 :Data; desired @2 :Data; }
struct KeyValueReply {
  value @0 :Data;
  number @1 :Int64;
  found @2 :Bool;
}
