#pragma once
// Cluster: the way in. `rt::connect` is the first statement of main; a worker never returns from it.
//
//   rt::Cluster cluster = rt::connect(argc, argv);
//   auto counter = cluster.spawn<Counter>({.name = "counter"}, 10);
//   int n = counter.call<&Counter::add>(5).get();
//
// It starts a cluster inside this program: two rtd, head and node, that end with it, and with them every actor,
// detached ones too.

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rt/actors/spawner.h"

namespace rt {

struct ConnectOptions {
  int cpus = 0;              // CPU slots, the user's own word; 0: the cores this process may use
  int simulate_gpus = 0;     // GPU slots that aren't there, the user's own word
  std::uint64_t memory = 0;  // bytes that actors may reserve, the user's own word; 0: what this machine lets us use
  std::uint64_t object_store = 0;                  // bytes of objects at most (see Ref); 0: 30 % of the memory
  std::initializer_list<Resource> resources = {};  // what else actors may reserve here
  std::string_view name_space = {};                // of the actors it spawns; empty: "default"
  bool echo_logs = false;  // what actors write into their logs appears on stderr too, with who wrote it in front
};

class Cluster : public Spawner {
 public:
  struct Parts;
  explicit Cluster(std::unique_ptr<Parts> parts);
  Cluster(Cluster&&) noexcept;
  Cluster& operator=(Cluster&&) noexcept;
  ~Cluster();  // ends all that was started here; returns when it is gone

  // `handler` runs on the I/O thread for each actor that dies, if it was spawned or called here.
  void on_death(std::function<void(const ActorDeath&)> handler);

  Result<ClusterTotals> totals();
  detail::Client& client();

 private:
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
