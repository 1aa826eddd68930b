#pragma once
// Spawner: what spawns and finds actors: the Cluster in a driver, rt::self() in an actor, a Supervisor in either.
//
// An actor ends with the driver or the actor that spawned it (its parent), unless it is detached; its whole process
// tree ends with it. Owner: who made it, and it refers to that one's connection. Threads: any.

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "rt/actors/actor.h"
#include "rt/actors/ref.h"
#include "rt/actors/task.h"
#include "rt/actors/task_run.h"

namespace rt {

// So much of what rt knows nothing of: licences, seats at a simulator.
struct Resource {
  std::string_view name;
  std::uint64_t amount = 0;
};

// Threads of an actor that run the methods of its name: template <> ... rt::thread_group<&Cache::load> = "io";
struct ThreadGroup {
  std::string_view name;
  std::uint32_t threads = 1;
};

// Trivially destructible members only: people write it in place, also in coroutines. What it refers to must live until
// `spawn` returns; a list that is written in place does.
struct SpawnOptions {
  std::string_view name = {};        // for get_actor; unique among the living actors of its namespace
  std::string_view name_space = {};  // empty: its parent's; a driver's is ConnectOptions::name_space
  // It lives on when its parent has ended. In a cluster inside a program (rt::connect) everything ends with that
  // program, what is detached too; in one that was started by itself it lives until it is killed or leaves.
  bool detached = false;

  // What it holds while it lives. It waits until a node has all of it, and is refused where no node ever can.
  std::uint32_t cpus = 0, gpus = 0;  // slots, and GPUs of its own
  std::uint64_t memory = 0;          // bytes: reserved, not enforced
  std::initializer_list<Resource> resources = {};

  // Restarts: a new incarnation, constructed anew with the same arguments, in the same slots and under the same handle.
  // More than `max_restarts` within `restart_window` and it is given up; without a window that counts for life. The
  // first restart of a crash loop comes at once, the next after `restart_delay`, then twice as long each time.
  std::uint32_t max_restarts = 0;
  std::chrono::milliseconds restart_window{0};
  std::chrono::milliseconds restart_delay{100}, max_restart_delay{30'000};

  // Its calls. One that is over its deadline fails with Code::Deadline, and is cancelled where it runs;
  // Actor::within gives a call another. `max_pending_calls`: of one caller that aren't answered yet; a further call
  // waits until one is, 30 s at most or until its deadline, then it fails with Code::Unavailable and doesn't run.
  std::chrono::milliseconds call_deadline{0};  // 0: none
  std::uint32_t max_pending_calls = 0;         // 0: no bound but that of memory

  // Its methods run one at a time, on its first thread; with `concurrency` so many beside each other, on as many
  // threads, begun in order. `groups`: further threads, for methods that name them (rt::thread_group). Coroutine
  // methods run on the first thread always, and interleave there.
  std::uint32_t concurrency = 1;
  std::initializer_list<ThreadGroup> groups = {};

  // Its process.
  std::uint64_t memory_limit = 0;          // bytes its process tree may use before it is killed; 0: none
  std::initializer_list<int> cpuset = {};  // cores it is pinned to; empty: those of its slots
  std::uint32_t threads = 0;               // for OpenMP and LibTorch; 0: as many as `cpus`
  std::initializer_list<std::string_view> environment = {};  // NAME=VALUE, beside the driver's
  std::string_view directory = {};                           // its working folder; empty: its parent's
  std::string_view log = {};                                 // file for its output; empty: one in the run folder
};

// What kind of thing an actor is going through.
enum class ActorState { Pending, Starting, Running, Restarting, Stopping };

struct ActorFacts {
  ActorId id = 0;
  std::string name, name_space, class_name;
  ActorState state = ActorState::Pending;
  std::uint32_t node = 0;
  int pid = 0;  // 0: none now
  std::uint32_t incarnation = 1;
  bool detached = false;
  std::string log;         // the file of its output
  std::string last_error;  // what its last incarnation died of; empty: this is the first
  std::string parent;      // who spawned it, in words
};

struct JobProgram;
class Supervisor;
struct SupervisorOptions;

class Spawner {
 public:
  // Returns at once; calls wait until the actor has started. What goes wrong is told by the calls, and to who watches.
  template <class T, class... Args>
  Actor<T> spawn(const SpawnOptions& options, Args&&... args) {
    using Made = detail::Constructor<T, detail::Sent<Args>...>;
    (void)Made::registered;
    const std::tuple<detail::Sent<Args>...> arguments(std::forward<Args>(args)...);
    Encoder to;
    encode(to, arguments);
    return {client_, spawn_class(Made::name, options, to.take(), to.attachments())};
  }
  template <class T>
  Actor<T> spawn() {
    return spawn<T>(SpawnOptions{});
  }

  // A living actor by its name. Code::NotFound where there is none. `name_space`: empty for one's own.
  template <class T>
  Result<Actor<T>> get_actor(std::string_view name, std::string_view name_space = {}) {
    RT_TRY(id, find(name, name_space));
    return Actor<T>(client_, id);
  }

  // Puts a value into this node's shared memory: one copy, then none for whoever reads it (ref.h). Throws: Unavailable
  // where the store is full and stays so, NoSpace where the machine has no memory left, Invalid where it could never
  // hold that much.
  template <class A>
  auto put(const A& value) {
    return detail::put(client_->large(), value);
  }

  // Runs a free function, or a static one, on a worker process (task_run.h): cluster.run<&area>(polygon).
  template <auto F, class... Args>
  auto run(Args&&... args) {
    return tasks().run<F>(std::forward<Args>(args)...);
  }
  TaskRunner tasks(const TaskOptions& options = {}) { return {*client_, *program_, options}; }
  template <class F, class... Args>
  void run(F&&, Args&&...) {
    static_assert(
        !std::is_same_v<F, F>,
        "a task's function is named in the template, so that the workers know it: cluster.run<&area>(polygon), "
        "not cluster.run(area, polygon); a lambda or a std::function can't be sent");
  }

  Result<std::vector<ActorFacts>> list_actors(std::string_view name_space = {});  // empty: of all namespaces

  Supervisor supervise(const SupervisorOptions& options);

  // Runs a coroutine on this thread to its end; what it returns, or throws.
  template <class T>
  T wait(Task<T> task) {
    struct Run {
      Task<T>& task;
      bool is_done = false;
    } run{task};
    detail::run_until(
        run.is_done, client_->poller(),
        [](void* begun) {
          auto& of = *static_cast<Run*>(begun);
          of.task.start([](void* done) { *static_cast<bool*>(done) = true; }, &of.is_done);
        },
        &run);
    return task.take();
  }

 protected:
  Spawner(detail::Client* client, const JobProgram* program, std::uint64_t supervisor = 0)
      : client_(client), program_(program), supervisor_(supervisor) {}
  detail::Client* client_;

 private:
  ActorId spawn_class(std::string_view class_name, const SpawnOptions& options, std::string arguments,
                      const Attachments& objects);
  Result<ActorId> find(std::string_view name, std::string_view name_space);

  const JobProgram* program_;
  std::uint64_t supervisor_;
};

}  // namespace rt
