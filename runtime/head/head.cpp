#include "rt/runtime/head/head.h"

#include <algorithm>

#include "rt/runtime/head/emit.h"

namespace rt {

using wire::text;

Result<std::vector<Outgoing>> Head::handle(Origin from, std::string_view control) {
  out_.clear();
  const Status read = wire::with_message<Control>(control, [&](Control::Reader message) { dispatch(from, message); });
  if (!read) return read.error();
  return std::move(out_);
}

bool Head::is_journalled(std::string_view control) {
  bool journalled = false;
  const Status read = wire::with_message<Control>(control, [&](Control::Reader message) {
    const auto kind = message.which();
    journalled = kind != Control::KEY_VALUE && kind != Control::CLUSTER && kind != Control::LOOKUP;
  });
  return read && journalled;
}

// What a client may say and what only a node's agent may are two things, so that no client can speak for a node.
void Head::dispatch(Origin from, Control::Reader message) {
  if (from.client != 0 && nodes_.count(from.node) > 0) return of_client(from, message.getRequest(), message);
  of_agent(from, message.getRequest(), message);
}

void Head::of_client(Origin from, std::uint64_t request, Control::Reader message) {
  switch (message.which()) {
    case Control::LEASE: return on_lease(from, request, message.getLease());
    case Control::RELEASE_LEASE: return on_release(from, message.getReleaseLease(), request);
    case Control::CANCEL_LEASE: return on_cancel(from, message.getCancelLease());
    case Control::SPAWN: return on_spawn(from, request, message.getSpawn());
    case Control::KILL: return on_kill(from, message.getKill().getActor(), request);
    case Control::LOOKUP: return on_lookup(from, text(message.getLookup()), request);
    case Control::WATCH: return on_watch(from, message.getWatch().getActor(), request);
    case Control::CLUSTER: return on_cluster(from, request);
    case Control::KEY_VALUE: return on_key_value(from, request, message.getKeyValue());
    default:
      fail(from, request,
           {Code::Refused, "the head doesn't take a message of kind " +
                               std::to_string(static_cast<int>(message.which())) + " from a client"});
  }
}

void Head::of_agent(Origin from, std::uint64_t request, Control::Reader message) {
  const bool is_known = nodes_.count(from.node) > 0;
  if (message.isRegisterNode() && from == Origin{}) return on_register(from, request, message.getRegisterNode());
  if (message.isWorkerStarted() && is_known) return on_worker_started(from, message.getWorkerStarted());
  if (message.isWorkerExited() && is_known) return on_worker_exited(from, message.getWorkerExited());
  if (message.isClientLeft() && is_known) {
    if (message.getClientLeft() == 0) return on_node_lost(from.node);
    return on_client_left({from.node, message.getClientLeft()});
  }
  fail(from, request,
       {Code::Refused, "the head doesn't take a message of kind " + std::to_string(static_cast<int>(message.which())) +
                           " from " + (is_known ? "a node's agent" : "one that isn't registered")});
}

void Head::fill_started(wire::ActorStarted::Builder to, std::uint64_t id, const Actor& actor) {
  to.setActor(id);
  to.setIncarnation(actor.incarnation);
  to.setAddress(actor.address);
  to.setPid(actor.pid);
  to.setClient(actor.client.client);
}

void Head::on_lookup(Origin from, const std::string& name, std::uint64_t request) {
  const auto it = names_.find(name);
  if (it == names_.end() || !actors_.at(it->second).started)
    return fail(from, request, {Code::NotFound, "no running actor has the name '" + name + "'"});
  const Actor& actor = actors_.at(it->second);
  emit(from, request,
       [&](Control::Builder control) { fill_started(control.initReply().initActor(), it->second, actor); });
}

void Head::on_watch(Origin from, std::uint64_t id, std::uint64_t request) {
  const auto it = actors_.find(id);
  if (it == actors_.end()) return fail(from, request, {Code::NotFound, "actor " + std::to_string(id) + " is gone"});
  it->second.watchers.insert(from);
  done(from, request);
  if (it->second.started)
    emit(from, 0, [&](Control::Builder control) { fill_started(control.initActorStarted(), id, it->second); });
}

void Head::on_cluster(Origin from, std::uint64_t request) {
  const LedgerTotals totals = ledger_.totals();
  emit(from, request, [&](Control::Builder control) {
    auto facts = control.initReply().initCluster();
    facts.setNodes(totals.nodes);
    facts.setCpus(totals.cpus);
    facts.setGpus(totals.gpus);
    facts.setFreeCpus(totals.free_cpus);
    facts.setFreeGpus(totals.free_gpus);
    facts.setPendingLeases(static_cast<std::uint32_t>(pending_.size()));
  });
}

void Head::on_client_left(Origin client) {
  keys_.forget_client(client.node, client.client);
  std::erase_if(pending_, [&](const Pending& pending) { return pending.owner == client && pending.actor == 0; });
  std::vector<std::uint64_t> children;
  for (auto& [id, actor] : actors_) {
    actor.watchers.erase(client);
    if (actor.owner == client) children.push_back(id);
  }
  for (const std::uint64_t id : children)
    if (const auto it = actors_.find(id); it != actors_.end()) kill(id, it->second);
  std::vector<LeaseId> leases;
  for (const auto& [id, lease] : leases_)
    if (lease.owner == client) leases.push_back(id);
  for (const LeaseId id : leases) release(id);
  grant_pending();  // what it asked for may have stood before others
}

void Head::fail(Origin to, std::uint64_t request, const Error& error) {
  if (request == 0) return;
  emit(to, request, [&](Control::Builder control) {
    auto failure = control.initReply().initError();
    failure.setCode(static_cast<std::uint16_t>(error.code));
    failure.setMessage(error.message);
  });
}

void Head::done(Origin to, std::uint64_t request) {
  if (request != 0) emit(to, request, [](Control::Builder control) { control.initReply().setDone(); });
}

}  // namespace rt
