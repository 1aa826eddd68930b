#pragma once
// What a client says and hears over the control protocol, as the library's own structs. Used by client.cpp.

#include "rt/actors/client.h"
#include "rt/actors/spawner.h"
#include "rt/actors/supervisor.h"
#include "rt/runtime/wire/control.capnp.h"

namespace rt::detail {

void fill_spawn(wire::Spawn::Builder to, ActorId actor, const SpawnRequest& request);
void fill_supervise(wire::Supervise::Builder to, std::uint64_t number, const SupervisorOptions& options);
Lease read_lease(wire::Lease::Reader from);
ActorDeath read_death(wire::ActorDied::Reader from);
std::vector<ActorFacts> read_actors(capnp::List<wire::ActorFacts>::Reader from, const std::string& run_folder);

}  // namespace rt::detail
