#pragma once
// Supervisor: actors that are restarted together, by Erlang's rules.
//
//   rt::Supervisor family = cluster.supervise({.strategy = rt::Strategy::RestForOne, .max_restarts = 3});
//   auto reader = family.spawn<Reader>({.name = "reader"}, "data.csv");
//   auto parser = family.spawn<Parser>({.name = "parser"}, reader);  // restarted whenever the reader is
//
// A child that dies is restarted, and so are: nobody else (OneForOne), all others (OneForAll), those that were spawned
// after it (RestForOne). Those are asked to stop first, the last one first, and killed after `stop_deadline`; then they
// start in the order of their spawns. Handles stay good. More than `max_restarts` deaths within `window` and all of
// them end; the notice names the first failure. A child that was killed by somebody, or left, isn't restarted.
//
// A value that names the supervisor in the head; it may be copied, and nothing ends with it: the children end with
// their parent, as all actors do. Decisions: runtime/head/supervisor_state.h.

#include "rt/actors/spawner.h"
#include "rt/runtime/head/strategy.h"

namespace rt {

// A child's own SpawnOptions::max_restarts must be 0.
struct SupervisorOptions {
  Strategy strategy = Strategy::OneForOne;
  std::uint32_t max_restarts = 3;
  std::chrono::milliseconds window{5'000};  // 0: for life
  std::chrono::milliseconds restart_delay{100}, max_restart_delay{30'000};
  std::chrono::milliseconds stop_deadline{5'000};  // for siblings to leave by themselves; 0: they are killed at once
};

class Supervisor : public Spawner {
 private:
  friend class Spawner;
  using Spawner::Spawner;
};

}  // namespace rt
