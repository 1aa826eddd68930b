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
#include "rt/actors/key_value.h"
#include "rt/runtime/base/result.h"
#include "rt/runtime/wire/call.h"

namespace rt {

using ActorId = std::uint64_t;

struct ActorDeath {
  ActorId actor = 0;
  std::uint32_t incarnation = 0;
  std::string cause;   // "signal 9 (SIGKILL)", "exit code 3", "its constructor threw: ..."
  int exit_code = -1;  // -1 where a signal ended it
  int signal = 0;
  bool killed = false;  // because rt was asked to
  bool will_restart = false;
  bool keeper_lost = false;  // with the fork server, rt's own process, that kept it: no fault of its own
  std::string last_lines;    // of its log
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
};

namespace detail {

struct SpawnRequest {
  std::string class_name, arguments, program, program_hash, name, directory, log;
  std::uint64_t lease = 0;
  std::uint32_t bundle = 0, cpus = 0, gpus = 0, max_restarts = 0;
  std::vector<std::string> environment;
};

// How a call is made.
struct CallTerms {
  std::chrono::nanoseconds deadline{0};  // from now; 0: none
};

class IoThread;

struct ClientStart {
  IoThread* io = nullptr;  // stopped by the client's end
  int agent_fd = -1;
  std::uint64_t actor = 0;  // of a worker
  std::uint32_t incarnation = 0;
  std::string address;  // where a worker listens
};

class Client {
 public:
  // Says hello to the agent and waits for its answer.
  static Result<std::shared_ptr<Client>> start(const ClientStart& start);
  virtual ~Client() = default;

  virtual ActorId spawn(const SpawnRequest& request) = 0;  // what goes wrong comes as the actor's death
  virtual void kill(ActorId actor) = 0;
  virtual std::shared_ptr<CallState> call(ActorId actor, wire::MethodName method, std::string_view arguments,
                                          CallTerms terms = {}) = 0;
  virtual Status send(ActorId actor, wire::MethodName method, std::string_view arguments) = 0;  // one way
  virtual Result<ActorId> lookup(const std::string& name) = 0;

  // `granted` runs on the I/O thread, once; it may come much later. The number cancels it before.
  virtual std::uint64_t lease(const GangSize& gang, const std::string& name,
                              std::function<void(Result<Lease>)> granted) = 0;
  virtual void cancel_lease(std::uint64_t number) = 0;
  virtual void release(std::uint64_t lease) = 0;

  virtual void on_death(std::function<void(const ActorDeath&)> handler) = 0;  // of actors spawned or called here
  // On the I/O thread; at once, on this one, where it is lost already.
  virtual void on_agent_lost(std::function<void()> handler) = 0;
  virtual Result<ClusterTotals> totals() = 0;
  virtual KeyValue& keys() = 0;
  virtual const std::string& run_folder() const = 0;
};

}  // namespace detail
}  // namespace rt
