#include "rt/runtime/base/process_tree.h"

#include <dirent.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

namespace rt {
namespace {

namespace fs = std::filesystem;

// Processes that end while they are listed may be missed; the callers look again until nothing is left.
std::set<pid_t> children_of(pid_t parent) {
  std::set<pid_t> found;
  std::error_code error;
  for (fs::directory_iterator task("/proc/" + std::to_string(parent) + "/task", error), end; !error && task != end;
       task.increment(error)) {
    std::ifstream list(task->path() / "children");
    for (pid_t child = 0; list >> child;) found.insert(child);
  }
  return found;
}

// All below `root`, without `spared` and what is below those.
std::set<pid_t> descendants(pid_t root, const std::set<pid_t>& spared) {
  std::set<pid_t> found;
  std::vector<pid_t> unseen{root};
  while (!unseen.empty()) {
    const pid_t parent = unseen.back();
    unseen.pop_back();
    for (const pid_t child : children_of(parent))
      if (!spared.contains(child) && found.insert(child).second) unseen.push_back(child);
  }
  return found;
}

// A stopped process can't fork, so once a walk finds no new one the list is whole.
std::set<pid_t> stop_below(pid_t root, const std::set<pid_t>& spared) {
  std::set<pid_t> stopped;
  while (true) {
    const std::size_t before = stopped.size();
    for (const pid_t pid : descendants(root, spared))
      if (stopped.insert(pid).second) ::kill(pid, SIGSTOP);
    if (stopped.size() == before) return stopped;
  }
}

}  // namespace

Status adopt_orphans() {
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) return system_error("cannot become a subreaper", errno);
  return Unit{};
}

std::set<pid_t> descendants_of(pid_t root) { return descendants(root, {}); }

std::set<pid_t> children() { return children_of(::getpid()); }

void reap_children(const std::set<pid_t>& spared) {
  for (const pid_t child : children())
    if (!spared.contains(child)) ::waitpid(child, nullptr, WNOHANG);
}

Status kill_descendants(const std::set<pid_t>& spared, std::chrono::milliseconds deadline) {
  using Clock = std::chrono::steady_clock;
  const auto last = Clock::now() + deadline;
  std::chrono::microseconds pause{50};
  stop_below(::getpid(), spared);
  while (true) {
    const std::set<pid_t> left = descendants(::getpid(), spared);
    if (left.empty()) return Unit{};
    if (Clock::now() > last)
      return Error{Code::Deadline, "process " + std::to_string(*left.begin()) +
                                       " doesn't die of SIGKILL: it hangs in the kernel; see /proc/PID/stack"};
    for (const pid_t pid : left) ::kill(pid, SIGKILL);
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, std::chrono::microseconds{10'000});
    reap_children(spared);
  }
}

void kill_tree(pid_t root) {
  ::kill(root, SIGSTOP);
  for (const pid_t pid : stop_below(root, {})) ::kill(pid, SIGKILL);
  ::kill(root, SIGKILL);
}

}  // namespace rt
