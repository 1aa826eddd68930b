#include "rt/actors/control_messages.h"

#include <algorithm>

#include "rt/runtime/wire/message.h"

namespace rt::detail {
namespace {

using wire::text;

std::uint64_t milliseconds(std::chrono::milliseconds time) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, time.count()));
}

// A number that this library has no name for is of a newer rt; the hello refuses those, so only damage brings one here.
template <class To, class From>
To as(From from, To last) {
  return static_cast<To>(std::min(static_cast<int>(from), static_cast<int>(last)));
}

}  // namespace

void fill_spawn(wire::Spawn::Builder to, ActorId actor, const SpawnRequest& request) {
  to.setActor(actor);
  to.setClass(request.class_name);
  to.setArguments(wire::as_data(request.arguments));
  to.initProgram().setPath(request.program);
  to.getProgram().setHash(request.program_hash);
  to.setName(request.name);
  to.setNameSpace(request.name_space);
  to.setDetached(request.detached);
  to.setLease(request.lease);
  to.setBundle(request.bundle);
  to.setCpus(request.cpus);
  to.setGpus(request.gpus);
  to.setMemory(request.memory);
  to.setMemoryLimit(request.memory_limit);
  to.setThreads(request.threads);
  to.setSupervisor(request.supervisor);
  to.setDirectory(request.directory);
  to.setLog(request.log);
  auto environment = to.initEnvironment(static_cast<unsigned>(request.environment.size()));
  for (unsigned i = 0; i < request.environment.size(); ++i) environment.set(i, request.environment[i]);
  auto cpuset = to.initCpuset(static_cast<unsigned>(request.cpuset.size()));
  for (unsigned i = 0; i < request.cpuset.size(); ++i) cpuset.set(i, request.cpuset[i]);
  auto resources = to.initResources(static_cast<unsigned>(request.resources.size()));
  for (unsigned i = 0; i < request.resources.size(); ++i) {
    resources[i].setName(request.resources[i].first);
    resources[i].setAmount(request.resources[i].second);
  }
  to.setConcurrency(request.concurrency);
  auto groups = to.initGroups(static_cast<unsigned>(request.groups.size()));
  for (unsigned i = 0; i < request.groups.size(); ++i) {
    groups[i].setName(request.groups[i].first);
    groups[i].setThreads(request.groups[i].second);
  }
  auto calls = to.initCalls();
  calls.setDeadlineMs(milliseconds(request.calls.deadline));
  calls.setMostPending(request.calls.most_pending);
  auto restarts = to.initRestarts();
  restarts.setMost(request.restarts.most);
  restarts.setWindowMs(milliseconds(request.restarts.window));
  restarts.setDelayMs(milliseconds(request.restarts.delay));
  restarts.setMaxDelayMs(milliseconds(request.restarts.max_delay));
}

void fill_supervise(wire::Supervise::Builder to, std::uint64_t number, const SupervisorOptions& options) {
  to.setSupervisor(number);
  to.setStrategy(static_cast<wire::Strategy>(options.strategy));
  to.setStopMs(static_cast<std::uint32_t>(std::min<std::uint64_t>(milliseconds(options.stop_deadline), UINT32_MAX)));
  auto restarts = to.initRestarts();
  restarts.setMost(options.max_restarts);
  restarts.setWindowMs(milliseconds(options.window));
  restarts.setDelayMs(milliseconds(options.restart_delay));
  restarts.setMaxDelayMs(milliseconds(options.max_restart_delay));
}

Lease read_lease(wire::Lease::Reader from) {
  Lease lease{.id = from.getId()};
  for (const auto bundle : from.getBundles()) {
    BundleView view{.node = bundle.getNode()};
    for (const auto core : bundle.getCores()) view.cores.push_back(core);
    for (const auto gpu : bundle.getGpus()) view.gpus.push_back(text(gpu));
    lease.bundles.push_back(std::move(view));
  }
  return lease;
}

ActorDeath read_death(wire::ActorDied::Reader from) {
  return {.actor = from.getActor(),
          .incarnation = from.getIncarnation(),
          .kind = as(from.getKind(), DeathKind::NotStarted),
          .cause = text(from.getCause()),
          .exit_code = from.getExitCode(),
          .signal = static_cast<int>(from.getSignal()),
          .killed = from.getKilled(),
          .killed_by = text(from.getKilledBy()),
          .memory_used = from.getMemoryUsed(),
          .memory_limit = from.getMemoryLimit(),
          .will_restart = from.getWillRestart(),
          .restarts = from.getRestarts(),
          .keeper_lost = from.getKeeperLost(),
          .last_lines = text(from.getLastLines())};
}

// Where nobody said otherwise its node keeps its log in the run folder.
std::vector<ActorFacts> read_actors(capnp::List<wire::ActorFacts>::Reader from, const std::string& run_folder) {
  std::vector<ActorFacts> actors;
  for (const auto facts : from) {
    actors.push_back({.id = facts.getActor(),
                      .name = text(facts.getName()),
                      .name_space = text(facts.getNameSpace()),
                      .class_name = text(facts.getClass()),
                      .state = as(facts.getState(), ActorState::Stopping),
                      .node = facts.getNode(),
                      .pid = static_cast<int>(facts.getPid()),
                      .incarnation = facts.getIncarnation(),
                      .detached = facts.getDetached(),
                      .log = text(facts.getLog()),
                      .last_error = text(facts.getLastError()),
                      .parent = text(facts.getParent())});
    ActorFacts& actor = actors.back();
    if (actor.log.empty() && !run_folder.empty())
      actor.log = run_folder + "/logs/actor-" + std::to_string(actor.id) + ".log";
  }
  return actors;
}

}  // namespace rt::detail
