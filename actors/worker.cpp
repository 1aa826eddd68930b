#include "rt/actors/worker.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "rt/actors/client.h"
#include "rt/actors/io_thread.h"
#include "rt/actors/mailbox.h"
#include "rt/actors/method_table.h"
#include "rt/actors/serving.h"
#include "rt/actors/worker_context.h"
#include "rt/runtime/wire/control.capnp.h"
#include "rt/runtime/wire/message.h"

namespace rt::detail {
namespace {

constexpr int kExitCannotStart = 70;

struct Start {
  std::uint64_t actor = 0;
  std::uint32_t incarnation = 0;
  std::string class_name, arguments, directory, log, run_folder;
  std::vector<std::string> environment, gpus;
  std::vector<int> cores;
};

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::fflush(stderr);
  ::_exit(kExitCannotStart);
}

Start read_start(const std::string& bytes) {
  Start start;
  const Status read = wire::with_message<wire::StartWorker>(bytes, [&](wire::StartWorker::Reader from) {
    const auto spawn = from.getSpawn();
    start = {.actor = from.getActor(),
             .incarnation = from.getIncarnation(),
             .class_name = wire::text(spawn.getClass()),
             .arguments = wire::data(spawn.getArguments()),
             .directory = wire::text(spawn.getDirectory()),
             .log = wire::text(spawn.getLog())};
    for (const auto entry : spawn.getEnvironment()) start.environment.push_back(wire::text(entry));
    for (const auto gpu : from.getBundle().getGpus()) start.gpus.push_back(wire::text(gpu));
    for (const auto core : from.getBundle().getCores()) start.cores.push_back(core);
  });
  if (!read) give_up(read.error().message);
  const char* run_folder = std::getenv("RT_RUN_FOLDER");
  start.run_folder = run_folder ? run_folder : "";
  return start;
}

void take_on_log(const std::string& path) {
  const int log = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (log < 0) return;  // its output then stays in the fork server's log
  ::dup2(log, 1);
  ::dup2(log, 2);
  ::close(log);
}

void take_on_environment(const Start& start) {
  for (const std::string& entry : start.environment)
    if (const auto equals = entry.find('='); equals != std::string::npos)
      ::setenv(entry.substr(0, equals).c_str(), entry.c_str() + equals + 1, 1);
  std::string devices;
  for (const std::string& gpu : start.gpus) devices += (devices.empty() ? "" : ",") + gpu;
  ::setenv("CUDA_VISIBLE_DEVICES", devices.c_str(), 1);
  if (!start.directory.empty() && ::chdir(start.directory.c_str()) != 0)
    give_up("cannot enter the folder " + start.directory + ": " + std::strerror(errno));
}

// Only where the slots are real cores: a slot that the user made up pins nothing.
void take_on_cores(const std::vector<int>& cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) {
    if (core < 0 || core >= CPU_SETSIZE) return;
    CPU_SET(core, &set);
  }
  if (!cores.empty()) ::sched_setaffinity(0, sizeof set, &set);
}

int connect_to_agent(const std::string& run_folder) {
  auto fd = connect_unix_socket(run_folder + "/node.sock");
  if (!fd) give_up("this node's agent: " + fd.error().message);
  return fd->release();
}

AnyObject construct(const Start& start, Client& client) {
  const Construct make = find_class(start.class_name);
  if (!make)
    give_up("this program has no actor class " + start.class_name + " with such a constructor; was it built again?");
  try {
    Decoder from(start.arguments, &client);
    return make(from);
  } catch (const std::exception& e) {
    give_up(std::string("the constructor threw: ") + e.what());
  } catch (...) {
    give_up("the constructor threw what is no std::exception");
  }
}

}  // namespace

WorkerContext& worker_context() {
  static WorkerContext context;  // one actor a process; set before its constructor runs
  return context;
}

[[noreturn]] void run_worker(const std::string& start_worker) {
  const Start start = read_start(start_worker);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGINT, SIG_IGN);
  if (!start.log.empty()) take_on_log(start.log);
  take_on_environment(start);
  take_on_cores(start.cores);

  const std::string address =
      start.run_folder + "/actors/" + std::to_string(start.actor) + "." + std::to_string(start.incarnation);
  IoThread io;
  Mailbox mailbox(io.io(), start.actor, start.incarnation, {});
  Serving serving(mailbox, start.actor);
  if (const Status open = mailbox.open(address); !open) give_up(open.error().message);
  auto client = Client::start({.io = &io,
                               .agent_fd = connect_to_agent(start.run_folder),
                               .actor = start.actor,
                               .incarnation = start.incarnation,
                               .address = address});
  if (!client) give_up("the node's agent refused this worker: " + client.error().message);
  (*client)->on_agent_lost([] { ::_exit(0); });  // nobody is left to answer to
  worker_context() = {.client = client->get(), .cores = start.cores, .gpus = start.gpus};

  const AnyObject object = construct(start, **client);
  serving.open(object, client->get(), {.actor = std::to_string(start.actor), .pid = ::getpid()});
  serving.serve();
}

}  // namespace rt::detail
