#pragma once
// Cluster: the way in. `rt::connect` is the first statement of main; a worker never returns from it.
//
//   rt::Cluster cluster = rt::connect(argc, argv);
//   auto counter = cluster.spawn<Counter>({.name = "counter"}, 10);
//   int n = counter.call<&Counter::add>(5).get();
//
// It starts a cluster inside this program: two rtd, head and node, that end with it.

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rt/actors/actor.h"

namespace rt {

// Trivially destructible members only: people write it in place, also in coroutines.
struct SpawnOptions {
  std::string_view name = {};  // for get_actor; unique among living actors
  std::uint32_t cpus = 0;      // slots it holds while it lives
  std::uint32_t gpus = 0;
  std::uint32_t max_restarts = 0;  // a new incarnation, constructed anew, up to so many times
  std::string_view log = {};       // file for its output; empty: one in the run folder
};

struct ConnectOptions {
  int cpus = 0;           // CPU slots, the user's own word; 0: the cores this process may use
  int simulate_gpus = 0;  // GPU slots that aren't there, the user's own word
};

class Cluster {
 public:
  struct Parts;
  explicit Cluster(std::unique_ptr<Parts> parts);
  Cluster(Cluster&&) noexcept;
  Cluster& operator=(Cluster&&) noexcept;
  ~Cluster();  // ends all that was started here; returns when it is gone

  // Returns at once; calls wait until the actor has started. What goes wrong is told by the calls.
  template <class T, class... Args>
  Actor<T> spawn(const SpawnOptions& options, Args&&... args) {
    using Made = detail::Constructor<T, detail::Sent<Args>...>;
    (void)Made::registered;
    const std::tuple<detail::Sent<Args>...> arguments(std::forward<Args>(args)...);
    Encoder to;
    encode(to, arguments);
    return {&client(), spawn_class(Made::name, options, to.take())};
  }
  template <class T>
  Actor<T> spawn() {
    return spawn<T>(SpawnOptions{});
  }

  // A running actor by its name. Code::NotFound where there is none.
  template <class T>
  Result<Actor<T>> get_actor(std::string_view name) {
    RT_TRY(id, client().lookup(std::string(name)));
    return Actor<T>(&client(), id);
  }

  // `handler` runs on the I/O thread for each actor that dies, if it was spawned or called here.
  void on_death(std::function<void(const ActorDeath&)> handler);

  Result<ClusterTotals> totals();
  detail::Client& client();

 private:
  ActorId spawn_class(std::string_view class_name, const SpawnOptions& options, std::string arguments);
  std::unique_ptr<Parts> parts_;
};

// Throws rt::Exception when the cluster can't be started or reached.
Cluster connect(int argc, char** argv, ConnectOptions options = {});

namespace detail {

// The first call of a main, before it opens a file: closed standard streams are opened. In a process that a fork server
// is to be, or a worker, it does that and never returns.
void serve_if_worker();

}  // namespace detail
}  // namespace rt
