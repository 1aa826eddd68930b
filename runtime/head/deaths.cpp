// How the head's actors end: killed or stopped as somebody asked, or dead by themselves; buried with their cause.

#include <utility>

#include "rt/runtime/head/emit.h"

namespace rt {

using wire::text;

void Head::on_worker_exited(Origin from, wire::ActorDied::Reader died) {
  const auto it = actors_.find(died.getActor());
  if (it == actors_.end() || it->second.incarnation != died.getIncarnation() || it->second.node != from.node ||
      it->second.is_down)
    return;
  capnp::MallocMessageBuilder whole;  // read to its end before anything changes
  whole.setRoot(died);
  bury(it->first, whole.getRoot<wire::ActorDied>());
}

void Head::on_kill(Origin from, wire::Kill::Reader asked, std::uint64_t request) {
  const std::string by = who(from);
  const std::string what = asked.getDeadlineMs() == 0 ? "it was killed by " : "it was asked to stop by ";
  kill(asked.getActor(), {.by = by, .cause = what + by, .deadline_ms = asked.getDeadlineMs()});
  done(from, request);
}

void Head::on_leaving(Origin from, std::uint64_t request) {
  if (const auto it = actor_of_client_.find(from); it != actor_of_client_.end()) actors_.at(it->second).leaving = true;
  done(from, request);
}

void Head::on_constructor_threw(Origin from, std::string what, std::uint64_t request) {
  if (const auto it = actor_of_client_.find(from); it != actor_of_client_.end())
    actors_.at(it->second).constructor_threw = std::move(what);
  done(from, request);
}

// The first who asks is named, but a kill at once overrides a stop with a deadline, and an end for good a restart.
void Head::kill(std::uint64_t id, End end) {
  const auto it = actors_.find(id);
  if (it == actors_.end()) return;
  Actor& actor = it->second;
  const bool ends_already = actor.end && !actor.end->restarts;
  if (ends_already && (actor.end->deadline_ms == 0 || end.deadline_ms > 0)) return;
  actor.end = std::move(end);
  if (actor.node != 0 && !actor.is_down) return emit_kill(id, actor);
  bury_with(id, actor.end->kind, actor.is_down ? "before it was restarted" : "before it had its resources");
  grant_pending();  // what it waited for may have stood before others
}

void Head::emit_kill(std::uint64_t id, const Actor& actor) {
  emit({actor.node, 0}, 0, [&](Control::Builder control) {
    auto kill = control.initKillWorker();
    kill.setActor(id);
    kill.setIncarnation(actor.incarnation);
    kill.setDeadlineMs(actor.end->deadline_ms);
  });
}

// An actor without a process ends with a notice too.
void Head::bury_with(std::uint64_t id, wire::DeathKind kind, const std::string& cause) {
  capnp::MallocMessageBuilder builder;
  auto died = builder.initRoot<wire::ActorDied>();
  died.setActor(id);
  died.setIncarnation(actors_.at(id).incarnation);
  died.setKind(kind);
  died.setCause(cause);
  died.setExitCode(-1);
  std::erase_if(pending_, [id](const Pending& pending) { return pending.actor == id; });
  bury(id, died);
}

void Head::bury(std::uint64_t id, wire::ActorDied::Builder died) {
  Actor& actor = actors_.at(id);
  explain(actor, died);
  actor.last_error = text(died.getCause());
  if (actor.client.client != 0) actor_of_client_.erase(actor.client);
  if (restarts(id, actor, died)) return;
  tell_died(actor, died.asReader());
  remember(id, died.asReader());
  remove(id);
}

// What the agent saw, and why it was to be: the notice's cause says both.
void Head::explain(const Actor& actor, wire::ActorDied::Builder died) {
  const std::string seen = text(died.getCause());
  if (actor.end) {
    std::string cause = actor.end->cause;
    if (died.getDeadlinePassed())
      cause += " and killed: it had not left within " + std::to_string(actor.end->deadline_ms) + " ms";
    else if (actor.node == 0 || actor.is_down)
      cause += " " + seen;
    else if (actor.leaving)
      cause += ", and left";
    else if (actor.end->deadline_ms > 0)
      cause += ", and ended with " + seen;
    died.setKind(actor.end->kind);
    died.setKilledBy(actor.end->by);
    died.setKilled(true);
    return died.setCause(cause);
  }
  if (!actor.constructor_threw.empty()) {
    died.setKind(wire::DeathKind::CONSTRUCTOR_THREW);
    died.setCause("the constructor threw: " + actor.constructor_threw);
  } else if (actor.leaving) {
    died.setKind(wire::DeathKind::LEFT);
    died.setCause("it left");
  }
}

void Head::tell_died(const Actor& actor, wire::ActorDied::Reader died) {
  std::set<Origin> listeners = actor.watchers;
  listeners.insert(actor.owner);
  for (const Origin& to : listeners) emit(to, 0, [&](Control::Builder control) { control.setActorDied(died); });
}

void Head::remember(std::uint64_t id, wire::ActorDied::Reader died) {
  capnp::MallocMessageBuilder copy;
  copy.setRoot(died);
  if (ended_.insert_or_assign(id, wire::to_bytes(copy)).second) ended_order_.push_back(id);
  if (ended_order_.size() <= kMostEnded) return;
  ended_.erase(ended_order_.front());
  ended_order_.pop_front();
}

void Head::remove(std::uint64_t id) {
  const Actor& actor = actors_.at(id);
  const LeaseId lease = actor.lease;
  const std::uint64_t supervisor = actor.supervisor;
  const bool owns_lease = actor.owns_lease;
  if (!actor.name.second.empty()) names_.erase(actor.name);
  actors_.erase(id);
  leave_supervisor(supervisor, id);
  if (const auto it = leases_.find(lease); it != leases_.end()) {
    it->second.actors.erase(id);
    if (owns_lease) it->second.releasing = true;
    free_if_empty(lease);
  }
}

}  // namespace rt
