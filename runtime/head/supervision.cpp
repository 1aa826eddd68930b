// Restarts: what the supervisors (supervisor_state.h) decide, carried out on actors. An actor between two incarnations
// keeps its id, its name and its slots.

#include <utility>

#include "rt/runtime/head/emit.h"

namespace rt {
namespace {

using wire::text;

std::string intensity(const RestartPolicy& policy) {
  std::string words = std::to_string(policy.most) + (policy.most == 1 ? " restart" : " restarts");
  if (policy.window > HeadTime{0}) words += " within " + std::to_string(policy.window.count()) + " ms";
  return words;
}

}  // namespace

void Head::on_supervise(Origin from, std::uint64_t request, wire::Supervise::Reader asked) {
  const std::uint64_t id = asked.getSupervisor();
  if (id == 0 || supervisors_.count(id) > 0 || actors_.count(id) > 0)
    return fail(from, request, {Code::Invalid, "supervisor id " + std::to_string(id) + " is in use"});
  if (asked.getStrategy() > wire::Strategy::REST_FOR_ONE)
    return fail(from, request,
                {Code::Invalid, "there is no strategy " + std::to_string(static_cast<int>(asked.getStrategy()))});
  Supervised made{.owner = from,
                  .stop_ms = asked.getStopMs(),
                  .state = {static_cast<Strategy>(asked.getStrategy()), restart_policy(asked.getRestarts())}};
  supervisors_.emplace(id, std::move(made));
  done(from, request);
}

// The actor joins the supervisor that its spawn names, or gets one of its own where it has restarts.
void Head::supervise(std::uint64_t id, Actor& actor, const RestartPolicy& own) {
  if (actor.supervisor == 0 && own.most > 0) {
    actor.supervisor = id;
    supervisors_.emplace(id, Supervised{.owner = actor.owner, .of_one = true, .state = {Strategy::OneForOne, own}});
  }
  if (actor.supervisor != 0) supervisors_.at(actor.supervisor).state.add(id, now_);
}

// Is the dead actor started again, now or later? Then its death has been told; `died` says what there is to say else.
bool Head::restarts(std::uint64_t id, Actor& actor, wire::ActorDied::Builder died) {
  const bool ends_for_good = actor.end ? !actor.end->restarts : actor.leaving;
  const auto it = supervisors_.find(actor.supervisor);
  if (ends_for_good || it == supervisors_.end() || nodes_.count(actor.node) == 0) return false;
  SupervisorState& supervisor = it->second.state;
  const SupervisorState::Failure how{
      .cause = it->second.of_one ? text(died.getCause()) : in_words(id, actor) + ": " + text(died.getCause()),
      .last_lines = text(died.getLastLines())};
  const auto verdict = supervisor.died(id, how, now_);
  died.setRestarts(supervisor.restarts_in_loop());
  if (verdict.gave_up) {
    give_up(it->first, id, died);
    return false;
  }
  died.setWillRestart(true);
  tell_died(actor, died.asReader());
  ++actor.incarnation;
  actor.client = {};
  actor.started = false;
  actor.is_down = true;
  actor.end.reset();
  actor.leaving = false;
  actor.constructor_threw.clear();
  const std::uint64_t of = it->first;
  stop_siblings(of, verdict.stop, "its supervisor restarts it, as " + how.cause);
  start_due(of);
  return true;
}

void Head::stop_siblings(std::uint64_t supervisor, const std::vector<SupervisorState::Child>& siblings,
                         const std::string& why) {
  Supervised& supervised = supervisors_.at(supervisor);
  for (const SupervisorState::Child id : siblings) {
    Actor& sibling = actors_.at(id);
    if (sibling.node == 0) {
      supervised.state.keep(id);  // it waits for its resources
    } else if (!sibling.end) {
      sibling.end = End{.by = "its supervisor", .cause = why, .deadline_ms = supervised.stop_ms, .restarts = true};
      emit_kill(id, sibling);
    }
  }
}

// The first failure of the crash loop is what a person needs; the last one is what the notice was of.
void Head::give_up(std::uint64_t supervisor, std::uint64_t id, wire::ActorDied::Builder died) {
  const SupervisorState state = supervisors_.at(supervisor).state;
  const bool is_alone = supervisors_.at(supervisor).of_one;
  const std::string last = text(died.getCause());
  const SupervisorState::Failure& first = state.first_failure();
  std::string cause = "given up after " + intensity(state.policy());
  if (state.restarts_in_loop() > 0) {
    cause += "; the first failure: " + first.cause;
    if (is_alone && first.cause != last) cause += "; the last: " + last;
    if (!first.last_lines.empty()) died.setLastLines(first.last_lines);
  } else {
    cause += (is_alone ? ": " : ": " + in_words(id, actors_.at(id)) + ": ") + last;
  }
  died.setCause(cause);
  for (const SupervisorState::Child sibling : state.children())
    if (sibling != id) kill(sibling, {.by = "its supervisor", .cause = "its supervisor was " + cause});
}

void Head::start_due(std::uint64_t supervisor) {
  const auto it = supervisors_.find(supervisor);
  if (it == supervisors_.end()) return;
  for (const SupervisorState::Child id : it->second.state.start_due(now_)) start(id, actors_.at(id));
}

// It has ended for good; those that waited for its end may start.
void Head::leave_supervisor(std::uint64_t supervisor, std::uint64_t id) {
  const auto it = supervisors_.find(supervisor);
  if (it == supervisors_.end()) return;
  it->second.state.forget(id);
  if (it->second.state.empty() && (it->second.of_one || it->second.owner_left)) {
    supervisors_.erase(it);
    return;
  }
  start_due(supervisor);
}

void Head::on_tick() {
  std::vector<std::uint64_t> all;
  for (const auto& [id, supervised] : supervisors_) all.push_back(id);
  for (const std::uint64_t id : all) start_due(id);
}

std::optional<HeadTime> Head::next_tick() const {
  std::optional<HeadTime> next;
  for (const auto& [id, supervised] : supervisors_)
    if (const auto at = supervised.state.next_start(); at && (!next || *at < *next)) next = at;
  return next;
}

}  // namespace rt
