#include "rt/runtime/base/lock_holder.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <string>

#include "rt/runtime/base/files.h"

namespace rt {
namespace {

// A line of /proc/locks: "1: FLOCK  ADVISORY  WRITE 1234 fe:00:10952787 0 EOF".
struct Lock {
  int pid = 0;
  unsigned major = 0, minor = 0;
  unsigned long inode = 0;
};

std::optional<Lock> exclusive_lock(const std::string& line) {
  Lock lock;
  const int read =
      std::sscanf(line.c_str(), "%*d: FLOCK %*s WRITE %d %x:%x:%lu", &lock.pid, &lock.major, &lock.minor, &lock.inode);
  return read == 4 ? std::optional(lock) : std::nullopt;
}

// A child that was forked with the lock may outlive the process that took it.
bool is_alive(pid_t pid) { return pid > 0 && (::kill(pid, 0) == 0 || errno == EPERM); }

}  // namespace

std::optional<pid_t> lock_holder(const std::filesystem::path& file) {
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0) return std::nullopt;
  const auto written = read_file(file);  // a journal's lock holds the pid, too
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    const auto lock = exclusive_lock(line);
    if (!lock || lock->inode != info.st_ino || !is_alive(lock->pid)) continue;
    // The device of an overlay or a subvolume has another number there than stat gives.
    const bool is_its_device = lock->major == major(info.st_dev) && lock->minor == minor(info.st_dev);
    if (is_its_device || (written && *written == std::to_string(lock->pid))) return lock->pid;
  }
  return std::nullopt;
}

}  // namespace rt
