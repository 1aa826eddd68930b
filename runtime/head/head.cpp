#include "rt/runtime/head/head.h"

#include <algorithm>

#include "rt/runtime/head/emit.h"

namespace rt {

using wire::text;

Result<std::vector<Outgoing>> Head::handle(Origin from, std::string_view control, HeadTime now) {
  out_.clear();
  now_ = std::max(now_, now);
  const Status read = wire::with_message<Control>(control, [&](Control::Reader message) { dispatch(from, message); });
  if (!read) return read.error();
  return std::move(out_);
}

bool Head::is_journalled(std::string_view control) {
  bool journalled = false;
  const Status read = wire::with_message<Control>(control, [&](Control::Reader message) {
    const auto kind = message.which();
    journalled = kind != Control::KEY_VALUE && kind != Control::CLUSTER && kind != Control::LOOKUP &&
                 kind != Control::LIST_ACTORS && kind != Control::SAY;
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
    case Control::KILL: return on_kill(from, message.getKill(), request);
    case Control::LOOKUP: return on_lookup(from, message.getLookup(), request);
    case Control::LIST_ACTORS: return on_list(from, text(message.getListActors()), request);
    case Control::WATCH: return on_watch(from, message.getWatch().getActor(), request);
    case Control::SUPERVISE: return on_supervise(from, request, message.getSupervise());
    case Control::LEAVING: return on_leaving(from, request);
    case Control::CONSTRUCTOR_THREW: return on_constructor_threw(from, text(message.getConstructorThrew()), request);
    case Control::CLUSTER: return on_cluster(from, request);
    case Control::SAY: return on_say(from, text(message.getSay()));
    case Control::FOLLOW_LOGS: return on_follow_logs(from);
    case Control::KEY_VALUE: return on_key_value(from, request, message.getKeyValue());
    default:
      fail(from, request,
           {Code::Refused, "the head doesn't take a message of kind " +
                               std::to_string(static_cast<int>(message.which())) + " from a client"});
  }
}

void Head::of_agent(Origin from, std::uint64_t request, Control::Reader message) {
  const bool is_known = nodes_.count(from.node) > 0;
  if (message.isTick() && from == Origin{}) return on_tick();
  if (message.isRegisterNode() && from == Origin{}) return on_register(from, request, message.getRegisterNode());
  if (message.isWorkerStarted() && is_known) return on_worker_started(from, message.getWorkerStarted());
  if (message.isWorkerExited() && is_known) return on_worker_exited(from, message.getWorkerExited());
  if (message.isDriverJoined() && is_known) return on_driver_joined(from.node, message.getDriverJoined());
  if (message.isClientLeft() && is_known) {
    if (message.getClientLeft() == 0) return on_node_lost(from.node);
    return on_client_left({from.node, message.getClientLeft()});
  }
  fail(from, request,
       {Code::Refused, "the head doesn't take a message of kind " + std::to_string(static_cast<int>(message.which())) +
                           " from " + (is_known ? "a node's agent" : "one that isn't registered")});
}

void Head::on_watch(Origin from, std::uint64_t id, std::uint64_t request) {
  const auto it = actors_.find(id);
  if (it == actors_.end() && ended_.contains(id))
    return emit(from, request, [&](Control::Builder control) {
      (void)wire::with_message<wire::ActorDied>(ended_.at(id), [&](auto died) { control.initReply().setDied(died); });
    });
  if (it == actors_.end())
    return fail(from, request,
                {Code::NotFound, "actor " + std::to_string(id) + " is gone: it was never spawned here, or more than " +
                                     std::to_string(kMostEnded) + " actors have died since"});
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
    facts.setMemory(totals.memory);
    facts.setFreeMemory(totals.free_memory);
    facts.setPendingLeases(static_cast<std::uint32_t>(pending_.size()));
  });
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
