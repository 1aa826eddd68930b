#include "rt/actors/worker.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>

#include "rt/actors/client.h"
#include "rt/actors/io_thread.h"
#include "rt/actors/mailbox.h"
#include "rt/actors/method_table.h"
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

wire::Outcome run_method(const Mailbox::Letter& letter, const MethodEntry& method, const AnyObject& object,
                         Client& client, Encoder& result) {
  if (!method.invoke) return wire::Outcome::UnknownMethod;
  std::string thrown;
  try {
    Decoder from(letter.arguments.view(), &client);
    method.invoke(object.get(), from, result);
    return wire::Outcome::Returned;
  } catch (const std::exception& e) {
    thrown = e.what();
  } catch (...) {
    thrown = "the method threw what is no std::exception";
  }
  result.clear();
  result.raw(thrown.data(), thrown.size());
  return wire::Outcome::Threw;
}

Status reply(const Mailbox::Letter& letter, wire::Outcome outcome, std::string_view body, std::uint64_t actor) {
  wire::CallHeader header = letter.header;
  header.outcome = outcome;
  return letter.from->send(FrameType::Reply, actor, {reinterpret_cast<const char*>(&header), sizeof header}, body);
}

// Runs what a letter asks for, and answers it.
class Server {
 public:
  explicit Server(std::uint64_t actor) : actor_(actor) {}

  // Once the actor is there: urgent calls, which the control thread runs, have to wait for that.
  void open(const AnyObject& object, Client* client) {
    const std::lock_guard lock(mutex_);
    object_ = object;
    client_ = client;
  }

  bool take_urgent(const Mailbox::Letter& letter) {
    const MethodEntry method = method_of(letter);
    if (!method.urgent) return false;
    const std::lock_guard lock(mutex_);
    if (!object_) return false;
    answer(letter, method, /*may_wait=*/false);
    return true;
  }

  [[noreturn]] void serve(Mailbox& mailbox) {
    while (true) {
      const Mailbox::Letter& letter = mailbox.take();
      answer(letter, method_of(letter), /*may_wait=*/true);
    }
  }

 private:
  static MethodEntry method_of(const Mailbox::Letter& letter) { return find_method(letter.header.method); }

  // `may_wait`: not on the I/O thread, which empties the queue that a reply waits for.
  void answer(const Mailbox::Letter& letter, const MethodEntry& method, bool may_wait) {
    Encoder result;
    const wire::Outcome outcome = run_method(letter, method, object_, *client_, result);
    if (letter.header.sequence == 0) return;
    Status sent = reply(letter, outcome, result.bytes(), actor_);
    if (!sent && sent.error().code == Code::Invalid)
      sent = reply(letter, wire::Outcome::Threw, sent.error().message, actor_);
    // A caller that reads too slowly holds the actor back; one that is gone wants no answer.
    while (may_wait && !sent && sent.error().code == Code::Unavailable) {
      ::poll(nullptr, 0, 10);
      sent = reply(letter, outcome, result.bytes(), actor_);
    }
  }

  const std::uint64_t actor_;
  std::mutex mutex_;  // guards what is below until it is open; then it changes no more
  AnyObject object_;
  Client* client_ = nullptr;
};

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
  Server server(start.actor);
  mailbox.set_urgent([&](const Mailbox::Letter& letter) { return server.take_urgent(letter); });
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
  server.open(object, client->get());
  server.serve(mailbox);
}

}  // namespace rt::detail
