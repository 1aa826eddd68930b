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

  const auto found = keeper_of(spawn.getProgram());
  if (!found) return report_death(worker, {found.error().message, wire::DeathKind::NOT_STARTED});
  Keeper& keeper = **found;
  Worker& kept = workers_[worker.actor] = worker;
  if (worker.memory_limit > 0) watch_memory();
  fork_ahead_soon();
  if (!keeper.ahead.empty()) {
    const Ahead process = keeper.ahead.front();
    keeper.ahead.pop_front();
    return give_start(process, kept, start);
  }
  capnp::MallocMessageBuilder builder;
  auto fork = builder.initRoot<wire::Control>();
  fork.setFork(start);
  fork.getFork().getSpawn().setLog(worker.log);
  keeper.fork_server->fork(wire::to_bytes(builder));
}

Result<Agent::Keeper*> Agent::keeper_of(wire::Program::Reader program) {
  const std::string path = text(program.getPath());
  const std::string key = path + "#" + text(program.getHash());
  if (const auto it = keepers_.find(key); it != keepers_.end()) return &it->second;
  const ForkServerStart start{
      .program = path,
      .environment = {options_.mark, "RT_RUN_FOLDER=" + options_.run_folder},
      .log = options_.run_folder + "/logs/fork-server-" + std::to_string(++logs_) + ".log",
  };
  RT_TRY(link, ForkServerLink::start(io_, start,
                                     {.on_forked = [this, key](wire::Forked::Reader forked) { on_forked(key, forked); },
                                      .on_exited = [this, key](pid_t pid, int status) { on_exited(key, pid, status); },
                                      .on_lost =
                                          [this, key](const Error& error) {
                                            boost::asio::post(io_,
                                                              [this, key, error] { on_fork_server_lost(key, error); });
                                          }}));
  Keeper& keeper = keepers_[key];
  keeper.fork_server = std::move(link);
  return &keeper;
}

void Agent::on_forked(const std::string& key, wire::Forked::Reader forked) {
  if (forked.getActor() == 0) {
    if (forked.getPid() != 0) return;
    log::warning("no process could be forked ahead: {}", text(forked.getError()));
    return (void)forget_ahead(key, 0);
  }
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

// --- processes forked ahead -----------------------------------------------------------------------------------------

// It has its actor now. Its address and pid are known, so who calls the actor connects while that is constructed.
void Agent::give_start(const Ahead& process, Worker& worker, wire::StartWorker::Reader start) {
  ahead_.erase(process.client);
  worker.pid = process.pid;
  worker.client = process.client;
  worker.address = process.address;
  actor_of_pid_[worker.pid] = worker.actor;
  // A log that is new is the process's own, by its new name; else it opens the one that there is.
  const bool keeps_log = worker.incarnation == 1 && start.getSpawn().getLog().size() == 0 &&
                         ::rename(process.log.c_str(), worker.log.c_str()) == 0;
  if (!keeps_log) ::unlink(process.log.c_str());
  capnp::MallocMessageBuilder builder;
  auto control = builder.initRoot<wire::Control>();
  control.setStartWorker(start);
  control.getStartWorker().getSpawn().setLog(keeps_log ? "" : worker.log);
  send_client(process.client, wire::to_bytes(builder));
  tell_started(worker);
}

Status Agent::on_ahead(ClientId client, wire::Hello::Reader hello) {
  const std::string key = text(hello.getProgram().getPath()) + "#" + text(hello.getProgram().getHash());
  const auto it = keepers_.find(key);
  if (it == keepers_.end() || it->second.under_way == 0)
    return Error{Code::Refused, "no process of the program " + text(hello.getProgram().getPath()) + " is awaited here"};
  --it->second.under_way;
  it->second.failed = 0;
  it->second.ahead.push_back({client, static_cast<pid_t>(hello.getPid()), text(hello.getAddress()),
                              options_.run_folder + "/logs/process-" + std::to_string(hello.getPid()) + ".log"});
  ahead_[client] = key;
  return Unit{};
}

// One that waited has ended, or one that was to wait won't.
bool Agent::forget_ahead(const std::string& key, pid_t pid) {
  const auto it = keepers_.find(key);
  if (it == keepers_.end()) return false;
  Keeper& keeper = it->second;
  const auto waits = std::find_if(keeper.ahead.begin(), keeper.ahead.end(),
                                  [pid](const Ahead& process) { return process.pid == pid; });
  if (waits != keeper.ahead.end()) {
    ahead_.erase(waits->client);
    ::unlink(waits->address.c_str());
    ::unlink(waits->log.c_str());
    keeper.ahead.erase(waits);
    return true;
  }
  if (keeper.under_way == 0) return false;
  --keeper.under_way;
  if (++keeper.failed == kMostFailed)
    log::warning(
        "{} processes of {} that were forked ahead ended before an actor could take them: none is any more, "
        "each actor's is forked when it starts",
        kMostFailed, key.substr(0, key.rfind('#')));
  return true;
}

// After some quiet: a fork at once would hold up the core where an actor is just starting.
void Agent::fork_ahead_soon() {
  constexpr std::chrono::milliseconds kQuiet{4};
  ahead_timer_.expires_after(kQuiet);
  ahead_timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) fork_ahead();
  });
}

void Agent::fork_ahead() {
  for (auto& [key, keeper] : keepers_) {
    capnp::MallocMessageBuilder builder;
    auto program = builder.initRoot<wire::Control>().initFork().initSpawn().initProgram();
    const auto hash = key.rfind('#');
    program.setPath(key.substr(0, hash));
    program.setHash(key.substr(hash + 1));
    const std::string request = wire::to_bytes(builder);
    while (keeper.failed < kMostFailed && static_cast<int>(keeper.ahead.size()) + keeper.under_way < kMostAhead) {
      ++keeper.under_way;
      keeper.fork_server->fork(request);
    }
  }
}

// --- ends
// -------------------------------------------------------------------------------------------------------------

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
  if (worker.pid > 0) keepers_.at(worker.program).fork_server->kill_tree(worker.pid);
}

void Agent::on_exited(const std::string& key, pid_t pid, int status) {
  if (store_) store_->bury(pid);
  const auto it = actor_of_pid_.find(pid);
  if (it == actor_of_pid_.end()) return (void)forget_ahead(key, pid);
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
  for (const Ahead& process : keepers_[key].ahead) {
    if (store_) store_->bury(process.pid);  // it has touched nothing yet
    ahead_.erase(process.client);
    ::unlink(process.address.c_str());
  }
  keepers_.erase(key);
  std::set<pid_t> spared;
  for (const auto& [other, keeper] : keepers_) spared.insert(keeper.fork_server->pid());
  const Status killed = kill_descendants(spared, std::chrono::seconds(10));
  if (!killed) log::error("{}", killed.error().message);
  for (const Worker& worker : lost) {
    if (store_) store_->bury(worker.pid);
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
