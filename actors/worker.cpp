#include "rt/actors/worker.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "rt/actors/client.h"
#include "rt/actors/io_thread.h"
#include "rt/actors/mailbox.h"
#include "rt/actors/serving.h"
#include "rt/actors/wait_for_debugger.h"
#include "rt/actors/warm_up.h"
#include "rt/actors/worker_context.h"
#include "rt/actors/worker_start.h"
#include "rt/runtime/base/log.h"
#include "rt/runtime/net/blocking_frames.h"
#include "rt/runtime/wire/control.capnp.h"
#include "rt/runtime/wire/message.h"

namespace rt::detail {
namespace {

constexpr int kExitCannotStart = 70;

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::fflush(stderr);
  ::_exit(kExitCannotStart);
}

WorkerStart read_start(const std::string& bytes) {
  WorkerStart start;
  const Status read = wire::with_message<wire::StartWorker>(
      bytes, [&](wire::StartWorker::Reader from) { start = read_worker_start(from); });
  if (!read) give_up(read.error().message);
  return start;
}

void take_on_log(const std::string& path) {
  if (path.empty()) return;
  const int log = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (log < 0) return;  // its output then stays in the fork server's log
  ::dup2(log, 1);
  ::dup2(log, 2);
  ::close(log);
}

// Its lines in the log carry its name.
void take_on_role(const WorkerStart& start) {
  const std::string role = start.name.empty() ? "actor " + std::to_string(start.actor) : start.name;
  (void)log::start({.role = start.incarnation == 1 ? role : role + "." + std::to_string(start.incarnation)});
}

// What was loaded before the fork has read its environment already, so OpenMP is told, where it is loaded.
void take_on_threads(std::uint32_t threads) {
  if (threads == 0) return;
  const std::string count = std::to_string(threads);
  for (const char* name : {"OMP_NUM_THREADS", "MKL_NUM_THREADS"}) ::setenv(name, count.c_str(), 1);
  if (void* const set = ::dlsym(RTLD_DEFAULT, "omp_set_num_threads"))
    reinterpret_cast<void (*)(int)>(set)(static_cast<int>(threads));
}

void take_on_environment(const WorkerStart& start) {
  for (const std::string& entry : start.environment)
    if (const auto equals = entry.find('='); equals != std::string::npos)
      ::setenv(entry.substr(0, equals).c_str(), entry.c_str() + equals + 1, 1);
  std::string devices;
  for (const std::string& gpu : start.gpus) devices += (devices.empty() ? "" : ",") + gpu;
  ::setenv("CUDA_VISIBLE_DEVICES", devices.c_str(), 1);
  if (!start.directory.empty() && ::chdir(start.directory.c_str()) != 0)
    give_up("cannot enter the folder " + start.directory + ": " + std::strerror(errno));
}

// To the cores that were asked for; else to those of its slots where they are real cores: a slot that the user made up
// pins nothing. What it is pinned to.
std::vector<int> take_on_cores(const WorkerStart& start, IoThread& io) {
  const bool is_asked = !start.cpuset.empty();
  const std::vector<int>& cores = is_asked ? start.cpuset : start.cores;
  cpu_set_t set;
  CPU_ZERO(&set);
  std::string words;
  for (const int core : cores) {
    words += (words.empty() ? "" : ",") + std::to_string(core);
    if (core >= 0 && core < CPU_SETSIZE)
      CPU_SET(core, &set);
    else if (!is_asked)
      return {};
  }
  if (cores.empty()) return {};
  cpu_set_t got;
  const bool is_pinned = ::sched_setaffinity(0, sizeof set, &set) == 0 &&
                         ::sched_getaffinity(0, sizeof got, &got) == 0 && CPU_EQUAL(&set, &got) && io.pin(set);
  if (is_asked && (!is_pinned || CPU_COUNT(&set) < static_cast<int>(cores.size())))
    give_up("cannot be pinned to the cores " + words + " of its cpuset: this machine doesn't let it use all of them");
  return is_pinned ? cores : std::vector<int>{};
}

void take_on(WorkerStart& start, IoThread& io) {
  take_on_threads(start.threads);
  take_on_environment(start);
  start.cpuset = take_on_cores(start, io);
}

int connect_to_agent(const std::string& run_folder) {
  auto fd = connect_unix_socket(run_folder + "/node.sock");
  if (!fd) give_up("this node's agent: " + fd.error().message);
  return fd->release();
}

AnyObject construct_or_give_up(const WorkerStart& start, Client& client) {
  auto object = construct(start, client);
  if (!object) give_up(object.error().message);
  return *std::move(object);
}

// A process forked ahead waits for an actor; the agent's end is its own.
WorkerStart wait_for_start(int agent_fd) {
  const auto bytes = read_control(agent_fd);
  if (!bytes) ::_exit(0);
  WorkerStart start;
  const Status read = wire::with_message<wire::Control>(*bytes, [&](wire::Control::Reader control) {
    if (control.isStartWorker()) start = read_worker_start(control.getStartWorker());
  });
  if (!read || start.actor == 0) give_up("the node's agent sent no actor to a process that waited for one");
  return start;
}

}  // namespace

// One that was forked for an actor takes that on at once; one forked ahead does first all that needs no actor, and
// waits.
[[noreturn]] void run_worker(const std::string& start_worker) {
  WorkerStart start = read_start(start_worker);
  const bool is_ahead = start.actor == 0;
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGINT, SIG_IGN);
  if (is_ahead) run_warm_ups();  // what a fork makes anew is there before it is wanted
  const std::string run_folder = std::getenv("RT_RUN_FOLDER") ? std::getenv("RT_RUN_FOLDER") : "";
  const std::string process = "process-" + std::to_string(::getpid());
  const std::string address = run_folder + "/actors/" + process;
  take_on_log(is_ahead ? run_folder + "/logs/" + process + ".log" : start.log);
  take_on_role(start);

  IoThread io;
  Mailbox mailbox(io.io(), 0, 0, {});  // who connects waits until the object store is there
  Serving serving(mailbox);
  if (!is_ahead) take_on(start, io);
  if (const Status open = mailbox.open(address); !open) give_up(open.error().message);
  const int agent_fd = connect_to_agent(run_folder);
  const auto joined = say_hello(agent_fd, {.actor = start.actor,
                                           .incarnation = start.incarnation,
                                           .address = address,
                                           .program = is_ahead ? start.program : JobProgram{}});
  if (!joined) give_up("the node's agent refused this worker: " + joined.error().message);
  ProcessStore::of(io.io()).open(*joined);
  if (is_ahead) {
    start = wait_for_start(agent_fd);
    take_on_log(start.log);
    take_on_role(start);
    take_on(start, io);
  }
  mailbox.take_on(start.actor, start.incarnation);
  const auto client = Client::start(ClientStart{.io = &io, .agent_fd = agent_fd, .joined = *joined});
  client->on_agent_lost([] { ::_exit(0); });  // nobody is left to answer to

  worker_context() = context_of(start, *client);
  worker_context().self = make_self(worker_context());
  worker_context().serving = &serving;
  worker_context().mailbox = &mailbox;
  worker_context().finish = [&] {
    (void)client->leaving();
    serving.close();
    std::fflush(nullptr);
    ::_exit(0);
  };
  client->on_stop([] {
    worker_context().stop.request_stop();
    worker_context().leave();
  });

  wait_for_debugger(start, *client);
  serving.open(take_up(start, construct_or_give_up(start, *client), *client));
  serving.serve();
}

}  // namespace rt::detail
