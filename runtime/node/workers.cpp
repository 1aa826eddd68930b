// The agent's workers: forked by their program's fork server, watched, killed as trees, reported with their cause.

#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/post.hpp>
#include <cstring>
#include <filesystem>

#include "rt/runtime/base/crash_point.h"
#include "rt/runtime/base/log.h"
#include "rt/runtime/base/log_tail.h"
#include "rt/runtime/base/process_tree.h"
#include "rt/runtime/node/agent.h"
#include "rt/runtime/wire/message.h"

namespace rt {
namespace {

using wire::text;

std::string cause_of(int status) {
  if (WIFSIGNALED(status)) {
    const char* name = ::sigabbrev_np(WTERMSIG(status));
    return "signal " + std::to_string(WTERMSIG(status)) + " (SIG" + (name ? name : "?") + ")";
  }
  return "exit code " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

void Agent::start_worker(wire::StartWorker::Reader start) {
  RT_CRASH_POINT("agent.before_start_worker");
  const auto spawn = start.getSpawn();
  Worker worker{.actor = start.getActor(), .incarnation = start.getIncarnation(), .log = text(spawn.getLog())};
  if (worker.log.empty()) worker.log = options_.run_folder + "/logs/actor-" + std::to_string(worker.actor) + ".log";
  worker.program = text(spawn.getProgram().getPath()) + "#" + text(spawn.getProgram().getHash());

  const auto server = fork_server_of(spawn.getProgram());
  if (!server) return report_death(worker, server.error().message, -1, 0);
  workers_[worker.actor] = worker;
  capnp::MallocMessageBuilder builder;
  auto fork = builder.initRoot<wire::Control>();
  fork.setFork(start);
  fork.getFork().getSpawn().setLog(worker.log);
  (*server)->fork(wire::to_bytes(builder));
}

Result<ForkServerLink*> Agent::fork_server_of(wire::Program::Reader program) {
  const std::string path = text(program.getPath());
  const std::string key = path + "#" + text(program.getHash());
  if (const auto it = fork_servers_.find(key); it != fork_servers_.end()) return it->second.get();
  const ForkServerStart start{
      .program = path,
      .environment = {options_.mark, "RT_RUN_FOLDER=" + options_.run_folder},
      .log = options_.run_folder + "/logs/fork-server-" + std::to_string(++logs_) + ".log",
  };
  RT_TRY(link, ForkServerLink::start(io_, start,
                                     {.on_forked = [this](wire::Forked::Reader forked) { on_forked(forked); },
                                      .on_exited = [this](pid_t pid, int status) { on_exited(pid, status); },
                                      .on_lost =
                                          [this, key](const Error& error) {
                                            boost::asio::post(io_,
                                                              [this, key, error] { on_fork_server_lost(key, error); });
                                          }}));
  return (fork_servers_[key] = std::move(link)).get();
}

void Agent::on_forked(wire::Forked::Reader forked) {
  const auto it = workers_.find(forked.getActor());
  if (it == workers_.end() || it->second.incarnation != forked.getIncarnation()) return;
  if (forked.getPid() == 0) {
    const Worker failed = it->second;
    workers_.erase(it);
    return report_death(failed, text(forked.getError()), -1, 0);
  }
  it->second.pid = static_cast<pid_t>(forked.getPid());
  actor_of_pid_[it->second.pid] = forked.getActor();
  if (it->second.kill_asked) fork_servers_.at(it->second.program)->kill_tree(it->second.pid);
}

void Agent::kill_worker(std::uint64_t actor, std::uint32_t incarnation) {
  const auto it = workers_.find(actor);
  if (it == workers_.end() || it->second.incarnation != incarnation) return;
  it->second.kill_asked = true;
  if (it->second.pid > 0) fork_servers_.at(it->second.program)->kill_tree(it->second.pid);
}

void Agent::on_exited(pid_t pid, int status) {
  const auto it = actor_of_pid_.find(pid);
  if (it == actor_of_pid_.end()) return;
  const Worker worker = workers_.at(it->second);
  actor_of_pid_.erase(it);
  workers_.erase(worker.actor);
  if (!worker.address.empty()) ::unlink(worker.address.c_str());
  report_death(worker, cause_of(status), WIFEXITED(status) ? WEXITSTATUS(status) : -1,
               WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

// Its children have no keeper left: they have fallen to this process, are killed as well, and each is told.
void Agent::on_fork_server_lost(const std::string& key, const Error& error) {
  std::vector<Worker> lost;
  for (const auto& [actor, worker] : workers_)
    if (worker.program == key) lost.push_back(worker);
  fork_servers_.erase(key);
  std::set<pid_t> keepers;
  for (const auto& [other, link] : fork_servers_) keepers.insert(link->pid());
  const Status killed = kill_descendants(keepers, std::chrono::seconds(10));
  if (!killed) log::error("{}", killed.error().message);
  for (const Worker& worker : lost) {
    actor_of_pid_.erase(worker.pid);
    workers_.erase(worker.actor);
    if (!worker.address.empty()) ::unlink(worker.address.c_str());
    report_death(worker, error.message, -1, 0, /*keeper_lost=*/error.code == Code::Unavailable);
  }
}

void Agent::report_death(const Worker& worker, const std::string& cause, int exit_code, int signal, bool keeper_lost) {
  capnp::MallocMessageBuilder builder;
  auto died = builder.initRoot<wire::Control>().initWorkerExited();
  died.setActor(worker.actor);
  died.setIncarnation(worker.incarnation);
  died.setCause(cause);
  died.setExitCode(exit_code);
  died.setSignal(static_cast<std::uint32_t>(signal));
  died.setKeeperLost(keeper_lost);
  std::error_code missing;
  if (const auto size = std::filesystem::file_size(worker.log, missing); !worker.kill_asked && !missing && size > 0)
    died.setLastLines(last_lines(worker.log));
  (void)head_->send(FrameType::Control, 0, wire::to_bytes(builder));
}

}  // namespace rt
