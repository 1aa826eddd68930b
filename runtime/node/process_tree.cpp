#include "rt/runtime/node/process_tree.h"

#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string>

namespace rt {

std::vector<pid_t> children_of(pid_t pid) {
  std::vector<pid_t> children;
  const std::string tasks = "/proc/" + std::to_string(pid) + "/task";
  DIR* folder = ::opendir(tasks.c_str());
  if (!folder) return children;
  while (const dirent* entry = ::readdir(folder)) {
    if (entry->d_name[0] == '.') continue;
    std::ifstream file(tasks + "/" + entry->d_name + "/children");
    for (pid_t child; file >> child;) children.push_back(child);
  }
  ::closedir(folder);
  return children;
}

void kill_tree(pid_t root) {
  std::set<pid_t> stopped;
  std::vector<pid_t> found{root};
  while (!found.empty()) {  // a stopped process starts nothing, so this ends
    std::vector<pid_t> next;
    for (const pid_t pid : found)
      if (stopped.insert(pid).second) ::kill(pid, SIGSTOP);
    for (const pid_t pid : stopped)
      for (const pid_t child : children_of(pid))
        if (stopped.count(child) == 0) next.push_back(child);
    found = std::move(next);
  }
  for (const pid_t pid : stopped) ::kill(pid, SIGKILL);
}

void kill_orphans(const std::vector<pid_t>& known) {
  while (true) {
    std::vector<pid_t> orphans = children_of(::getpid());
    std::erase_if(orphans, [&](pid_t pid) { return std::find(known.begin(), known.end(), pid) != known.end(); });
    if (orphans.empty()) return;
    for (const pid_t pid : orphans) {
      kill_tree(pid);
      ::waitpid(pid, nullptr, 0);
    }
  }
}

}  // namespace rt
