#pragma once
// A living cluster of this user, joined as any other process joins it: by its agent's socket, which checks the user.
//
// Owner: the command that asks. Nothing that it does changes what runs there.

#include <memory>
#include <string>

#include "rt/actors/client.h"
#include "rt/actors/io_thread.h"
#include "rt/actors/run_folder.h"
#include "rt/actors/spawner.h"

namespace CLI {
class App;
}

namespace rt {

// What `rtctl actors`, `actor` and `stack` are asked.
struct ClusterQuestion {
  std::string cluster;     // its id, or the beginning of it; empty: the only one
  std::string actor;       // its number or its name
  std::string name_space;  // empty: any
  bool json = false;
};
void add_cluster_options(CLI::App& command, ClusterQuestion& question);  // without the actor
void add_actor_options(CLI::App& command, ClusterQuestion& question);

class Attached {
 public:
  // Code::NotFound where there is no such cluster, Invalid where it isn't said which of several; the message lists
  // them.
  static Result<std::unique_ptr<Attached>> join(const std::string& cluster);

  detail::Client& client() { return *client_; }

  // A living actor, by its number or its name. Code::NotFound, or Invalid where several have the name.
  Result<ActorFacts> find(const ClusterQuestion& question);

 private:
  LivingRun run_;
  detail::IoThread io_;
  std::shared_ptr<detail::Client> client_;
};

// In words, as `rt::ActorState` is spelled, small.
std::string state_text(ActorState state);

}  // namespace rt
