// The head's actors: spawned into a lease (or into slots of their own) and started by a node. How they end is
// deaths.cpp.

#include <utility>

#include "rt/runtime/head/emit.h"
#include "rt/runtime/wire/class_name.h"

namespace rt {
namespace {

using wire::text;

GangRequest slots_of(wire::Spawn::Reader spawn) {
  GangRequest own{1, spawn.getCpus(), spawn.getGpus(), spawn.getMemory()};
  for (const auto resource : spawn.getResources()) own.custom[text(resource.getName())] += resource.getAmount();
  return own;
}

constexpr std::uint32_t kMostThreads = 1024;  // of one group of an actor's

Status check_threads(wire::Spawn::Reader spawn) {
  std::map<std::string, std::uint32_t> groups;
  groups[""] = spawn.getConcurrency();
  for (const auto group : spawn.getGroups())
    if (!groups.emplace(text(group.getName()), group.getThreads()).second)
      return Error{Code::Invalid, "the actor has two thread groups named '" + text(group.getName()) +
                                      "' (the one without a name is its concurrency)"};
  for (const auto& [name, threads] : groups)
    if (threads > kMostThreads)
      return Error{Code::Invalid, "an actor may have " + std::to_string(kMostThreads) + " threads in a group, not " +
                                      std::to_string(threads) + " in '" + name + "'"};
  return Unit{};
}

}  // namespace

Status Head::check_spawn(Origin from, wire::Spawn::Reader spawn, const Name& name, const GangRequest& own) const {
  const std::uint64_t id = spawn.getActor();
  if (actors_.count(id) > 0 || supervisors_.count(id) > 0)
    return Error{Code::Invalid, "actor id " + std::to_string(id) + " is in use"};
  if (const auto holder = names_.find(name); !name.second.empty() && holder != names_.end())
    return Error{Code::Invalid, "the name '" + name.second + "' is taken by a living actor: in namespace '" +
                                    name.first + "' it is " + in_words(holder->second, actors_.at(holder->second)) +
                                    "; kill that one, or take another name or namespace"};
  RT_CHECK(check_threads(spawn));
  if (const std::uint64_t supervisor = spawn.getSupervisor(); supervisor != 0) {
    const auto it = supervisors_.find(supervisor);
    if (it == supervisors_.end() || it->second.of_one || it->second.owner != from)
      return Error{Code::Refused, "supervisor " + std::to_string(supervisor) + " has ended or is another's"};
    if (spawn.getRestarts().getMost() > 0)
      return Error{Code::Invalid, "max_restarts of an actor with a supervisor is its supervisor's; leave it 0"};
    if (it->second.state.has_given_up())
      return Error{Code::Refused, "its supervisor has given up and starts nothing any more; the first failure: " +
                                      it->second.state.first_failure().cause};
  }
  if (spawn.getLease() == 0) return ledger_.check_possible(own);
  if (spawn.getDetached()) return Error{Code::Invalid, "an actor in a lease ends with its lease; it can't be detached"};
  const auto lease = leases_.find(spawn.getLease());
  if (lease == leases_.end() || lease->second.releasing || lease->second.owner != from)
    return Error{Code::Refused, "lease " + std::to_string(spawn.getLease()) + " has ended or is another's"};
  if (spawn.getBundle() >= lease->second.bundles.size())
    return Error{Code::Invalid, "the lease has no bundle " + std::to_string(spawn.getBundle())};
  if (nodes_.count(lease->second.bundles[spawn.getBundle()].node) == 0)
    return Error{Code::NotSent, "the node of the lease's bundle " + std::to_string(spawn.getBundle()) +
                                    " was lost; release the lease and ask for another"};
  return Unit{};
}

// Who watches it afterwards learns why there is none.
void Head::refuse_spawn(Origin from, std::uint64_t request, std::uint64_t id, const Error& error) {
  fail(from, request, error);
  if (actors_.count(id) > 0) return;
  capnp::MallocMessageBuilder builder;
  auto died = builder.initRoot<wire::ActorDied>();
  died.setActor(id);
  died.setKind(wire::DeathKind::NOT_STARTED);
  died.setCause(error.message);
  died.setExitCode(-1);
  remember(id, died.asReader());
}

void Head::on_spawn(Origin from, std::uint64_t request, wire::Spawn::Reader spawn) {
  const std::uint64_t id = spawn.getActor();
  capnp::MallocMessageBuilder copy;  // read to its end before anything changes
  copy.setRoot(spawn);
  Name name{text(spawn.getNameSpace()), text(spawn.getName())};
  if (name.first.empty()) name.first = name_space_of(from);
  const GangRequest own = slots_of(spawn);
  const RestartPolicy restarts = restart_policy(spawn.getRestarts());
  if (const Status possible = check_spawn(from, spawn, name, own); !possible)
    return refuse_spawn(from, request, id, possible.error());

  Actor& actor = actors_[id] = Actor{.owner = from,
                                     .parent = who(from),
                                     .spawn = wire::to_bytes(copy),
                                     .name = name,
                                     .class_name = wire::class_of(text(spawn.getClass())),
                                     .supervisor = spawn.getSupervisor(),
                                     .lease = spawn.getLease(),
                                     .bundle = spawn.getBundle(),
                                     .detached = spawn.getDetached(),
                                     .call_deadline_ms = spawn.getCalls().getDeadlineMs(),
                                     .most_pending_calls = spawn.getCalls().getMostPending()};
  if (actor.lease != 0) leases_.at(actor.lease).actors.insert(id);
  if (!name.second.empty()) names_[name] = id;
  supervise(id, actor, restarts);
  done(from, request);
  const bool needs_slots = actor.lease == 0 && (own.cpus + own.gpus > 0 || own.memory > 0 || !own.custom.empty());
  if (!needs_slots) return start(id, actor);
  pending_.push_back({from, 0, id, own});
  grant_pending();
}

// Sends the actor to its node. One without slots of its own runs on its owner's node.
void Head::start(std::uint64_t id, Actor& actor) {
  const BundlePlace anywhere{.node = actor.owner.node};
  const BundlePlace& place = actor.lease != 0 ? leases_.at(actor.lease).bundles.at(actor.bundle) : anywhere;
  actor.node = place.node;
  actor.started = false;
  actor.is_down = false;
  actor.pid = 0;
  emit({actor.node, 0}, 0, [&](Control::Builder control) {
    auto start = control.initStartWorker();
    start.setActor(id);
    start.setIncarnation(actor.incarnation);
    (void)wire::with_message<wire::Spawn>(actor.spawn, [&](wire::Spawn::Reader spawn) { start.setSpawn(spawn); });
    start.getSpawn().setNameSpace(actor.name.first);
    fill_bundle(start.initBundle(), place);
  });
}

void Head::fill_started(wire::ActorStarted::Builder to, std::uint64_t id, const Actor& actor) {
  to.setActor(id);
  to.setIncarnation(actor.incarnation);
  to.setAddress(actor.address);
  to.setPid(actor.pid);
  to.setClient(actor.client.client);
  auto calls = to.initCalls();
  calls.setDeadlineMs(actor.call_deadline_ms);
  calls.setMostPending(actor.most_pending_calls);
}

void Head::on_worker_started(Origin from, wire::ActorStarted::Reader started) {
  const auto it = actors_.find(started.getActor());
  if (it == actors_.end() || it->second.incarnation != started.getIncarnation()) return;  // an older one's news
  Actor& actor = it->second;
  if (actor.node != from.node || actor.is_down) return;
  std::string address = text(started.getAddress());
  actor.address = std::move(address);
  actor.started = true;
  actor.pid = started.getPid();
  actor.client = {actor.node, started.getClient()};
  actor_of_client_[actor.client] = it->first;
  tell_followers(it->first, actor, started);
  std::set<Origin> listeners = actor.watchers;
  listeners.insert(actor.owner);
  for (const Origin& to : listeners)
    emit(to, 0, [&](Control::Builder control) { fill_started(control.initActorStarted(), it->first, actor); });
}

}  // namespace rt
