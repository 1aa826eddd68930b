#pragma once
// Client: this process's place in the cluster: its connection to the node's agent, its direct connections to actors.
// Inside the library; people use rt::Cluster and rt::Actor.
//
// Owner: rt::Cluster in a driver, the worker's main in a worker. Threads: every method may be called from any; handlers
// run on the process's I/O thread, which the destructor ends.
// Invariants: a call that was accepted is completed exactly once: by its reply, or by its actor's death notice. Calls
// to one actor leave in the order in which they were made.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rt/actors/future.h"
#include "rt/actors/hello.h"
#include "rt/actors/key_value.h"
#include "rt/runtime/base/result.h"
#include "rt/runtime/wire/call.h"

namespace boost::asio {
class io_context;
}

namespace rt {

class Transport;
using ActorId = std::uint64_t;

enum class DeathKind {
  Exited,
  Signalled,
  OutOfMemory,  // over its memory_limit, or killed by the kernel
  ConstructorThrew,
  Killed,  // as somebody asked
  Left,    // by itself
  ParentEnded,
  NodeLost,
  NotStarted,  // it was refused, or its program can't serve
};

struct ActorDeath {
  ActorId actor = 0;
  std::uint32_t incarnation = 0;
  DeathKind kind = DeathKind::NotStarted;
  // For people: "signal 11 (SIGSEGV)", "exit code 3", "the constructor threw: ...", "it was killed by the driver (pid
  // 7)", "out of memory: it used 2.1 GiB, its limit is 2.0 GiB", "given up after 3 restarts; the first failure: ...".
  std::string cause;
  int exit_code = -1;  // -1 where a signal ended it
  int signal = 0;
  bool killed = false;                              // because rt was asked to
  std::string killed_by;                            // who asked, in words; empty where nobody did
  std::uint64_t memory_used = 0, memory_limit = 0;  // bytes, of one that went over its limit
  bool will_restart = false;
  std::uint32_t restarts = 0;  // so far, of its crash loop
  bool keeper_lost = false;    // with the fork server, rt's own process, that kept it: no fault of its own
  std::string last_lines;      // of its log; of one that was given up, those of the first failure
};

struct BundleView {
  std::uint32_t node = 0;
  std::vector<int> cores;         // -1: a slot that the user made up
  std::vector<std::string> gpus;  // UUIDs
};

struct Lease {
  std::uint64_t id = 0;
  std::vector<BundleView> bundles;
};

struct GangSize {
  std::uint32_t size = 1, cpus = 1, gpus = 0;  // bundles; slots and GPUs a bundle
};

struct ClusterTotals {
  std::uint32_t nodes = 0, cpus = 0, gpus = 0, free_cpus = 0, free_gpus = 0;
  std::uint64_t memory = 0, free_memory = 0;  // bytes
};

struct ActorFacts;
struct SupervisorOptions;

namespace detail {

// What every caller of an actor keeps to.
struct CallLimits {
  std::chrono::milliseconds deadline{0};  // of a call that has no other; 0: none
  std::uint32_t most_pending = 0;         // calls of one caller that aren't answered yet; 0: no bound
};

struct SpawnRequest {
  Attachments objects;  // that the arguments refer to: kept until the actor has ended for good
  std::string class_name, arguments, program, program_hash, name, directory, log;
  std::uint64_t lease = 0;
  std::uint32_t bundle = 0, cpus = 0, gpus = 0;
  std::vector<std::string> environment;
  std::string name_space;
  bool detached = false;
  std::uint64_t supervisor = 0, memory = 0, memory_limit = 0;
  std::uint32_t threads = 0, concurrency = 1;
  std::vector<std::pair<std::string, std::uint32_t>> groups;
  CallLimits calls;
  std::vector<int> cpuset;
  std::vector<std::pair<std::string, std::uint64_t>> resources;
  struct {
    std::uint32_t most = 0;
    std::chrono::milliseconds window{0}, delay{0}, max_delay{0};
  } restarts;
};

// How a call is made.
struct CallTerms {
  std::chrono::nanoseconds deadline{0};      // from now; 0: none
  std::shared_ptr<ItemSink> sink = nullptr;  // of a stream
  const Attachments* objects = nullptr;      // that the arguments refer to
};

struct CallUnderWay {
  ActorId actor = 0;
  std::string_view method;
  std::shared_ptr<CallState> state;
};

// An incarnation writes into its log from there on.
struct LogBegins {
  ActorId actor = 0;
  std::string name, log;
  int pid = 0;
  std::uint64_t begin = 0;  // bytes
};

class IoThread;
class TaskStarter;
class Watcher;

struct ClientStart {
  IoThread* io = nullptr;  // stopped by the client's end
  int agent_fd = -1;       // which has said hello
  Joined joined;
};

// Of a client that shares its process with its node and all actors (inline/node.h).
struct InlineClientStart {
  boost::asio::io_context& io;
  std::shared_ptr<Transport> agent;
  std::function<Result<std::shared_ptr<Transport>>(const std::string& address)> connect;
  Joined joined;
};

class Client {
 public:
  static std::shared_ptr<Client> start(const ClientStart& start);
  static std::shared_ptr<Client> start(const InlineClientStart& start);
  virtual ~Client() = default;

  virtual ActorId spawn(const SpawnRequest& request) = 0;  // what goes wrong comes as the actor's death
  virtual void kill(ActorId actor, std::chrono::milliseconds deadline = {}) = 0;  // 0: at once
  virtual std::shared_ptr<CallState> call(ActorId actor, wire::MethodName method, std::string_view arguments,
                                          CallTerms terms = {}) = 0;
  virtual Status send(ActorId actor, wire::MethodName method, std::string_view arguments,
                      CallTerms terms = {}) = 0;  // one way
  virtual Result<ActorId> lookup(const std::string& name, const std::string& name_space) = 0;
  virtual Result<std::vector<ActorFacts>> list(const std::string& name_space) = 0;
  virtual std::uint64_t supervise(const SupervisorOptions& options) = 0;  // its number, for SpawnRequest::supervisor

  // `told` runs on the I/O thread for each death of the actor, or once with an error, while the result is kept.
  virtual std::shared_ptr<Watcher> watch(ActorId actor, std::function<void(const Result<ActorDeath>&)> told) = 0;

  // A worker's. The first two wait until the head knows.
  virtual Status leaving() = 0;
  virtual Status constructor_threw(const std::string& what) = 0;
  virtual void say(const std::string& what) = 0;            // the drivers print it
  virtual void on_stop(std::function<void()> handler) = 0;  // on the I/O thread; at once where it was asked already

  // `granted` runs on the I/O thread, once; it may come much later. The number cancels it before.
  virtual std::uint64_t lease(const GangSize& gang, const std::string& name,
                              std::function<void(Result<Lease>)> granted) = 0;
  virtual void cancel_lease(std::uint64_t number) = 0;
  virtual void release(std::uint64_t lease) = 0;

  virtual std::vector<CallUnderWay> under_way() = 0;                          // in no order
  virtual void give_up(const CallUnderWay& call, const Error& error) = 0;     // it fails, and is cancelled
  virtual void on_death(std::function<void(const ActorDeath&)> handler) = 0;  // of actors spawned or called here
  // On the I/O thread; at once, on this one, where it is lost already.
  virtual void on_agent_lost(std::function<void()> handler) = 0;
  virtual void on_said(std::function<void(const std::string&)> handler) = 0;  // by actors; on the I/O thread
  // `told` runs on the I/O thread for each incarnation of any actor that starts from now on. Once.
  virtual void follow_logs(std::function<void(const LogBegins&)> told) = 0;
  virtual Result<ClusterTotals> totals() = 0;
  virtual KeyValue& keys() = 0;
  virtual const std::string& run_folder() const = 0;
  virtual std::uint32_t node() const = 0;
  virtual RingPoller& poller() = 0;
  virtual TaskStarter& tasks() = 0;
  LargeStore* large() const { return large_; }  // the node's object store; null: this process has none

 protected:
  LargeStore* large_ = nullptr;
};

}  // namespace detail
}  // namespace rt
