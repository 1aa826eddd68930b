// The head's actors: spawned into a lease (or into slots of their own), started by a node, buried with their cause.

#include <utility>

#include "rt/runtime/head/emit.h"

namespace rt {

using wire::text;

void Head::on_spawn(Origin from, std::uint64_t request, wire::Spawn::Reader spawn) {
  const std::uint64_t id = spawn.getActor();
  const std::string name = text(spawn.getName());
  if (actors_.count(id) > 0)
    return fail(from, request, {Code::Invalid, "actor id " + std::to_string(id) + " is in use"});
  if (!name.empty() && names_.count(name) > 0)
    return fail(from, request, {Code::Invalid, "the name '" + name + "' is taken by a living actor"});

  capnp::MallocMessageBuilder copy;
  copy.setRoot(spawn);
  Actor actor{.owner = from,
              .spawn = wire::to_bytes(copy),
              .name = name,
              .restarts_left = spawn.getMaxRestarts(),
              .lease = spawn.getLease(),
              .bundle = spawn.getBundle()};
  if (actor.lease != 0) {
    const auto lease = leases_.find(actor.lease);
    if (lease == leases_.end() || lease->second.releasing || lease->second.owner != from)
      return fail(from, request,
                  {Code::Refused, "lease " + std::to_string(actor.lease) + " has ended or is another's"});
    if (actor.bundle >= lease->second.bundles.size())
      return fail(from, request, {Code::Invalid, "the lease has no bundle " + std::to_string(actor.bundle)});
    if (nodes_.count(lease->second.bundles[actor.bundle].node) == 0)
      return fail(from, request,
                  {Code::NotSent, "the node of the lease's bundle " + std::to_string(actor.bundle) +
                                      " was lost; release the lease and ask for another"});
    lease->second.actors.insert(id);
  }
  const GangRequest own{1, spawn.getCpus(), spawn.getGpus()};
  const bool needs_slots = actor.lease == 0 && own.cpus + own.gpus > 0;
  if (needs_slots)
    if (const Status possible = ledger_.check_possible(own); !possible) return fail(from, request, possible.error());

  if (!name.empty()) names_[name] = id;
  Actor& placed = actors_[id] = std::move(actor);
  done(from, request);
  if (!needs_slots) return start(id, placed);
  pending_.push_back({from, 0, id, own});
  grant_pending();
}

// Sends the actor to its node. One without slots of its own runs on its owner's node.
void Head::start(std::uint64_t id, Actor& actor) {
  const BundlePlace anywhere{.node = actor.owner.node};
  const BundlePlace& place = actor.lease != 0 ? leases_.at(actor.lease).bundles.at(actor.bundle) : anywhere;
  actor.node = place.node;
  actor.started = false;
  emit({actor.node, 0}, 0, [&](Control::Builder control) {
    auto start = control.initStartWorker();
    start.setActor(id);
    start.setIncarnation(actor.incarnation);
    (void)wire::with_message<wire::Spawn>(actor.spawn, [&](wire::Spawn::Reader spawn) { start.setSpawn(spawn); });
    fill_bundle(start.initBundle(), place);
  });
}

void Head::on_worker_started(Origin from, wire::ActorStarted::Reader started) {
  const auto it = actors_.find(started.getActor());
  if (it == actors_.end() || it->second.incarnation != started.getIncarnation()) return;  // an older one's news
  Actor& actor = it->second;
  if (actor.node != from.node) return;
  actor.address = text(started.getAddress());
  actor.started = true;
  actor.pid = started.getPid();
  actor.client = {actor.node, started.getClient()};
  if (actor.lease != 0) lease_of_client_[actor.client] = actor.lease;
  std::set<Origin> listeners = actor.watchers;
  listeners.insert(actor.owner);
  for (const Origin& to : listeners) emit(to, 0, [&](Control::Builder control) { control.setActorStarted(started); });
}

void Head::on_worker_exited(Origin from, wire::ActorDied::Reader died) {
  const auto it = actors_.find(died.getActor());
  if (it == actors_.end() || it->second.incarnation != died.getIncarnation() || it->second.node != from.node) return;
  capnp::MallocMessageBuilder whole;  // read to its end before anything changes
  whole.setRoot(died);
  bury(it->first, whole.getRoot<wire::ActorDied>().asReader());
}

void Head::on_kill(Origin from, std::uint64_t id, std::uint64_t request) {
  if (const auto it = actors_.find(id); it != actors_.end()) kill(id, it->second);
  done(from, request);
}

void Head::kill(std::uint64_t id, Actor& actor) {
  if (std::exchange(actor.killed, true)) return;
  actor.restarts_left = 0;
  if (actor.node == 0) {
    bury_with(id, "it was killed before it had its resources");
    return grant_pending();  // what it waited for may have stood before others
  }
  emit({actor.node, 0}, 0, [&](Control::Builder control) {
    auto ref = control.initKillWorker();
    ref.setActor(id);
    ref.setIncarnation(actor.incarnation);
  });
}

// An actor without a process ends with a notice too.
void Head::bury_with(std::uint64_t id, const std::string& cause) {
  capnp::MallocMessageBuilder builder;
  auto died = builder.initRoot<wire::ActorDied>();
  died.setActor(id);
  died.setIncarnation(actors_.at(id).incarnation);
  died.setCause(cause);
  died.setExitCode(-1);
  std::erase_if(pending_, [id](const Pending& pending) { return pending.actor == id; });
  bury(id, died.asReader());
}

void Head::bury(std::uint64_t id, wire::ActorDied::Reader died) {
  Actor& actor = actors_.at(id);
  if (actor.client.client != 0) lease_of_client_.erase(actor.client);
  const bool will_restart = actor.restarts_left > 0 && nodes_.count(actor.node) > 0;
  tell_died(actor, died, will_restart);
  if (will_restart) {
    --actor.restarts_left;
    ++actor.incarnation;
    actor.client = {};
    return start(id, actor);
  }
  const LeaseId lease = actor.lease;
  const bool owns_lease = actor.owns_lease;
  if (!actor.name.empty()) names_.erase(actor.name);
  actors_.erase(id);
  if (const auto it = leases_.find(lease); it != leases_.end()) {
    it->second.actors.erase(id);
    if (owns_lease) it->second.releasing = true;
    free_if_empty(lease);
  }
}

void Head::tell_died(const Actor& actor, wire::ActorDied::Reader died, bool will_restart) {
  std::set<Origin> listeners = actor.watchers;
  listeners.insert(actor.owner);
  for (const Origin& to : listeners)
    emit(to, 0, [&](Control::Builder control) {
      control.setActorDied(died);
      control.getActorDied().setKilled(actor.killed);
      control.getActorDied().setWillRestart(will_restart);
    });
}

}  // namespace rt
