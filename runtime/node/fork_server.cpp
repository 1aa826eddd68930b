#include "rt/runtime/node/fork_server.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>

#include "rt/runtime/base/crash_point.h"
#include "rt/runtime/base/process_tree.h"
#include "rt/runtime/net/blocking_frames.h"
#include "rt/runtime/wire/control.capnp.h"
#include "rt/runtime/wire/message.h"

namespace rt {
namespace {

constexpr std::chrono::seconds kKillLimit{10};

// The names of this process's threads besides the main one.
std::string threads_now() {
  std::string names;
  DIR* folder = ::opendir("/proc/self/task");
  while (const dirent* entry = folder ? ::readdir(folder) : nullptr) {
    if (entry->d_name[0] == '.' || std::atoi(entry->d_name) == ::getpid()) continue;
    std::ifstream file(std::string("/proc/self/task/") + entry->d_name + "/comm");
    std::string name;
    std::getline(file, name);
    names += (names.empty() ? "" : ", ") + name;
  }
  if (folder) ::closedir(folder);
  return names;
}

// A thread that was joined leaves the list of threads a moment later.
std::string other_threads() {
  constexpr int kLooks = 20;
  std::string names = threads_now();
  for (int look = 1; look < kLooks && !names.empty(); ++look) {
    ::poll(nullptr, 0, 1);
    names = threads_now();
  }
  return names;
}

class ForkServer {
 public:
  explicit ForkServer(int agent) : agent_(agent) {
    (void)adopt_orphans();  // fails on no kernel that rt runs on
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    ::sigprocmask(SIG_BLOCK, &child, &old_mask_);
    signals_ = ::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
  }

  void announce(const std::string& error) {
    send([&](wire::Control::Builder control) {
      auto ready = control.initReady();
      ready.setPid(static_cast<std::uint32_t>(::getpid()));
      ready.setVersion(wire::PROTOCOL_VERSION);
      ready.setError(error);
    });
    if (!error.empty()) ::_exit(3);
  }

  // Returns in a child.
  std::string serve() {
    while (true) {
      pollfd waits[2] = {{agent_, POLLIN, 0}, {signals_, POLLIN, 0}};
      if (::poll(waits, 2, -1) < 0 && errno != EINTR) end();
      if (waits[1].revents) reap();
      if (waits[0].revents) {
        auto request = read_control(agent_);
        if (!request) end();
        if (handle(*request)) return child_request_;
      }
    }
  }

 private:
  // True in a child.
  bool handle(const std::string& request) {
    bool is_child = false;
    const Status read = wire::with_message<wire::Control>(request, [&](wire::Control::Reader control) {
      if (control.isFork()) is_child = fork_one(control.getFork());
      if (control.isKillTree()) kill_child(static_cast<pid_t>(control.getKillTree()));
    });
    if (!read) end();
    return is_child;
  }

  bool fork_one(wire::StartWorker::Reader start) {
    RT_CRASH_POINT("fork_server.before_fork");
    const pid_t pid = ::fork();
    if (pid == 0) {
      become_child(start);
      return true;
    }
    const int number = errno;
    if (pid > 0) children_.insert(pid);
    send([&](wire::Control::Builder control) {
      auto forked = control.initForked();
      forked.setActor(start.getActor());
      forked.setIncarnation(start.getIncarnation());
      forked.setPid(pid > 0 ? static_cast<std::uint32_t>(pid) : 0);
      if (pid < 0) forked.setError(std::string("fork: ") + std::strerror(number));
    });
    return false;
  }

  void become_child(wire::StartWorker::Reader start) {
    ::close(agent_);
    ::close(signals_);
    ::setsid();
    (void)adopt_orphans();
    ::sigprocmask(SIG_SETMASK, &old_mask_, nullptr);
    capnp::MallocMessageBuilder copy;
    copy.setRoot(start);
    child_request_ = wire::to_bytes(copy);
  }

  void kill_child(pid_t pid) {
    if (children_.contains(pid)) kill_tree(pid);
  }

  void reap() {
    signalfd_siginfo info;
    while (::read(signals_, &info, sizeof info) > 0) {
    }
    int status = 0;
    for (pid_t pid; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      if (children_.erase(pid) == 0) continue;
      // What the one that died left behind has fallen to this process: it is gone before the death is told.
      if (const Status killed = kill_descendants(children_, kKillLimit); !killed) complain(killed.error());
      send([&](wire::Control::Builder control) {
        auto exited = control.initExited();
        exited.setPid(static_cast<std::uint32_t>(pid));
        exited.setStatus(status);
      });
    }
  }

  // The agent is gone: so is everything that was started for it.
  [[noreturn]] void end() {
    const Status killed = kill_descendants({}, kKillLimit);
    if (!killed) complain(killed.error());
    ::_exit(0);
  }

  static void complain(const Error& error) { std::fprintf(stderr, "rt: %s\n", error.message.c_str()); }

  template <class Fill>
  void send(Fill&& fill) {
    capnp::MallocMessageBuilder builder;
    fill(builder.initRoot<wire::Control>());
    if (!write_control(agent_, wire::to_bytes(builder))) end();
  }

  const int agent_;
  int signals_ = -1;
  sigset_t old_mask_{};
  std::set<pid_t> children_;
  std::string child_request_;
};

}  // namespace

bool is_fork_server() {
  const char* role = std::getenv("RT_ROLE");
  return role && std::strcmp(role, "fork_server") == 0 && std::getenv("RT_FORK_FD");
}

std::string serve_forks(const std::function<void()>& warm_up) {
  const int agent = std::atoi(std::getenv("RT_FORK_FD"));
  ::fcntl(agent, F_SETFD, FD_CLOEXEC);
  ::unsetenv("RT_ROLE");
  ::unsetenv("RT_FORK_FD");
  ForkServer server(agent);
  warm_up();
  const std::string threads = other_threads();
  server.announce(threads.empty() ? ""
                                  : "it has other threads when it reaches rt::connect: " + threads +
                                        "; start them after rt::connect, or spawn with spawn_mode exec");
  return server.serve();
}

}  // namespace rt
