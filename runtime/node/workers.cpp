// The agent's workers: forked by their program's fork server, watched, killed as trees, reported with their cause.

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <filesystem>

#include "rt/runtime/base/crash_point.h"
#include "rt/runtime/base/log.h"
#include "rt/runtime/base/log_tail.h"
#include "rt/runtime/base/process_tree.h"
#include "rt/runtime/node/agent.h"
#include "rt/runtime/node/tree_memory.h"
#include "rt/runtime/wire/message.h"

namespace rt {
namespace {

using wire::text;

std::uint64_t size_of(const std::string& file) {
  std::error_code missing;
  const auto size = std::filesystem::file_size(file, missing);
  return missing ? 0 : size;
}

}  // namespace

void Agent::start_worker(wire::StartWorker::Reader start) {
  RT_CRASH_POINT("agent.before_start_worker");
  const auto spawn = start.getSpawn();
  Worker worker{.actor = start.getActor(),
                .incarnation = start.getIncarnation(),
                .memory_limit = spawn.getMemoryLimit(),
                .log = text(spawn.getLog())};
  if (worker.log.empty()) worker.log = options_.run_folder + "/logs/actor-" + std::to_string(worker.actor) + ".log";
  worker.program = text(spawn.getProgram().getPath()) + "#" + text(spawn.getProgram().getHash());

  worker.log_begin = size_of(worker.log);

  const auto server = fork_server_of(spawn.getProgram());
  if (!server) return report_death(worker, {server.error().message, wire::DeathKind::NOT_STARTED});
  workers_[worker.actor] = worker;
  if (worker.memory_limit > 0) watch_memory();
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
    return report_death(failed, {text(forked.getError()), wire::DeathKind::NOT_STARTED});
  }
  it->second.pid = static_cast<pid_t>(forked.getPid());
  actor_of_pid_[it->second.pid] = forked.getActor();
  if (it->second.kill_asked) kill_tree_of(it->second);
}

void Agent::kill_worker(wire::Kill::Reader kill) {
  const auto it = workers_.find(kill.getActor());
  if (it == workers_.end() || it->second.incarnation != kill.getIncarnation()) return;
  Worker& worker = it->second;
  worker.kill_asked = true;
  if (kill.getDeadlineMs() == 0 || worker.client == 0) return kill_tree_of(worker);  // one that hasn't begun yet
  capnp::MallocMessageBuilder builder;
  builder.initRoot<wire::Control>().setStop();
  send_client(worker.client, wire::to_bytes(builder));
  kill_at(std::chrono::milliseconds(kill.getDeadlineMs()), worker);
}

void Agent::kill_at(std::chrono::milliseconds deadline, Worker& worker) {
  worker.deadline = std::make_shared<boost::asio::steady_timer>(io_, deadline);
  worker.deadline->async_wait([this, actor = worker.actor, incarnation = worker.incarnation](const auto& error) {
    const auto it = workers_.find(actor);
    if (error || it == workers_.end() || it->second.incarnation != incarnation) return;
    it->second.deadline_passed = true;
    kill_tree_of(it->second);
  });
}

void Agent::kill_tree_of(const Worker& worker) {
  if (worker.pid > 0) fork_servers_.at(worker.program)->kill_tree(worker.pid);
}

void Agent::on_exited(pid_t pid, int status) {
  const auto it = actor_of_pid_.find(pid);
  if (it == actor_of_pid_.end()) return;
  const Worker worker = workers_.at(it->second);
  actor_of_pid_.erase(it);
  workers_.erase(worker.actor);
  if (!worker.address.empty()) ::unlink(worker.address.c_str());
  report_death(worker, death_of(worker, status));
}

Death Agent::death_of(const Worker& worker, int status) {
  const bool is_killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  const std::uint64_t before = oom_kills_;
  if (is_killed) oom_kills_ = options_.oom_kills();
  return death_cause({.status = status,
                      .kill_asked = worker.kill_asked,
                      .memory_used = worker.memory_used,
                      .memory_limit = worker.memory_limit,
                      .kernel_ran_out = oom_kills_ > before,
                      .node_memory = options_.memory});
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
    report_death(
        worker,
        {.cause = error.message, .kind = wire::DeathKind::NOT_STARTED, .keeper_lost = error.code == Code::Unavailable});
  }
}

void Agent::report_death(const Worker& worker, const Death& death) {
  capnp::MallocMessageBuilder builder;
  auto died = builder.initRoot<wire::Control>().initWorkerExited();
  died.setActor(worker.actor);
  died.setIncarnation(worker.incarnation);
  died.setCause(death.cause);
  died.setKind(death.kind);
  died.setExitCode(death.exit_code);
  died.setSignal(static_cast<std::uint32_t>(death.signal));
  died.setKeeperLost(death.keeper_lost);
  died.setDeadlinePassed(worker.deadline_passed);
  died.setMemoryUsed(worker.memory_used);
  died.setMemoryLimit(worker.memory_limit);
  const std::uint64_t log_end = size_of(worker.log);  // of this incarnation's lines, where the file only grew
  const std::uint64_t lines = log_end >= worker.log_begin ? log_end - worker.log_begin : log_end;
  if (!worker.kill_asked && lines > 0)
    died.setLastLines(last_lines(worker.log, 20, std::min<std::uint64_t>(lines, 4096)));
  (void)head_->send(FrameType::Control, 0, wire::to_bytes(builder));
}

// --- memory limits -----------------------------------------------------------------------------------------------

void Agent::watch_memory() {
  constexpr std::chrono::milliseconds kPeriod{200};
  if (std::exchange(watches_memory_, true)) return;
  memory_timer_.expires_after(kPeriod);
  memory_timer_.async_wait([this](const boost::system::error_code& error) {
    watches_memory_ = false;
    if (!error) look_at_memory();
  });
}

void Agent::look_at_memory() {
  bool any = false;
  for (auto& [actor, worker] : workers_) {
    if (worker.memory_limit == 0) continue;
    any = true;
    if (worker.pid == 0 || worker.memory_used > 0) continue;
    const std::uint64_t used = tree_memory(worker.pid);
    if (used <= worker.memory_limit) continue;
    worker.memory_used = used;
    kill_tree_of(worker);
  }
  if (any) watch_memory();
}

}  // namespace rt
