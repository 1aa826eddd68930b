#include "rt/actors/worker.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>

#include "rt/actors/client.h"
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
  const std::string path = run_folder + "/node.sock";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    give_up("the node's agent doesn't answer at " + path + ": " + std::strerror(errno));
  return fd;
}

AnyObject construct(const Start& start, Client& client) {
  const Construct make = find_class(start.class_name);
  if (!make) give_up("this program has no actor class " + start.class_name + " with such a constructor; was it built again?");
  try {
    Decoder from(start.arguments, &client);
    return make(from);
  } catch (const std::exception& e) {
    give_up(std::string("the constructor threw: ") + e.what());
  }
}

void answer(Mailbox::Letter& letter, const AnyObject& object, Client& client) {
  wire::CallHeader header = letter.header;
  Encoder result;
  const Invoke invoke = find_method(header.method).invoke;
  if (!invoke) {
    header.outcome = wire::Outcome::UnknownMethod;
    encode<std::string>(result, "");
  } else {
    try {
      Decoder from(letter.arguments, &client);
      invoke(object.get(), from, result);
      header.outcome = wire::Outcome::Returned;
    } catch (const std::exception& e) {
      header.outcome = wire::Outcome::Threw;
      result = {};
      result.raw(e.what(), std::strlen(e.what()));
    }
  }
  if (header.sequence == 0) return;
  header.size = result.bytes().size();
  // A caller that is gone wants no answer.
  (void)letter.from->send(FrameType::Reply, 0, {reinterpret_cast<const char*>(&header), sizeof header}, result.bytes());
}

// The urgent methods, which the control thread runs once the actor is there.
class UrgentCalls {
 public:
  void open(const AnyObject& object, Client* client) {
    const std::lock_guard lock(mutex_);
    object_ = object;
    client_ = client;
  }
  bool take(Mailbox::Letter& letter) {
    if (!find_method(letter.header.method).urgent) return false;
    const std::lock_guard lock(mutex_);
    if (!object_) return false;
    answer(letter, object_, *client_);
    return true;
  }

 private:
  std::mutex mutex_;
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

  const std::string address = start.run_folder + "/actors/" + std::to_string(start.actor) + "." +
                              std::to_string(start.incarnation);
  Mailbox mailbox(start.actor, start.incarnation);
  UrgentCalls urgent;
  mailbox.set_urgent([&](Mailbox::Letter& letter) { return urgent.take(letter); });
  if (const Status open = mailbox.open(address); !open) give_up(open.error().message);
  auto client = Client::start({.agent_fd = connect_to_agent(start.run_folder),
                               .actor = start.actor,
                               .incarnation = start.incarnation,
                               .address = address});
  if (!client) give_up("the node's agent refused this worker: " + client.error().message);
  (*client)->on_agent_lost([] { ::_exit(0); });  // nobody is left to answer to
  worker_context() = {.client = client->get(), .cores = start.cores, .gpus = start.gpus};

  const AnyObject object = construct(start, **client);
  urgent.open(object, client->get());
  while (true) {
    Mailbox::Letter letter = mailbox.take();
    answer(letter, object, **client);
  }
}

}  // namespace rt::detail
