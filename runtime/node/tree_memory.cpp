#include "rt/runtime/node/tree_memory.h"

#include <unistd.h>

#include <fstream>
#include <string>

#include "rt/runtime/base/process_tree.h"

namespace rt {
namespace {

std::uint64_t resident_pages(pid_t pid) {
  std::ifstream statm("/proc/" + std::to_string(pid) + "/statm");
  std::uint64_t size = 0, resident = 0;
  statm >> size >> resident;
  return statm ? resident : 0;  // it may have ended by now
}

}  // namespace

std::uint64_t tree_memory(pid_t root) {
  std::uint64_t pages = resident_pages(root);
  for (const pid_t pid : descendants_of(root)) pages += resident_pages(pid);
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace rt
