#include "rt/runtime/base/crash_point.h"

#ifdef RT_CRASH_POINTS
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdlib>
#include <mutex>
#include <string>

namespace rt {
namespace {

struct Wanted {
  std::string name;
  long pass = 0;
};

// What RT_CRASH_AT asks of this process; pass 0: nothing.
Wanted read_wanted() {
  const char* text = std::getenv("RT_CRASH_AT");
  if (!text) return {};
  std::string spec = text;
  if (const auto at = spec.rfind('@'); at != std::string::npos) {
    char program[16] = {};
    ::prctl(PR_GET_NAME, program);
    if (spec.substr(at + 1) != program) return {};
    spec.resize(at);
  }
  const auto colon = spec.rfind(':');
  if (colon == std::string::npos) return {};
  return {spec.substr(0, colon), std::strtol(spec.c_str() + colon + 1, nullptr, 10)};
}

// Whether this firing is the first of its log.
bool log_firing(const std::string& name) {
  const char* log = std::getenv("RT_CRASH_LOG");
  if (!log) return true;
  const int fd = ::open(log, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  const std::string line = name + "\n";
  const bool written = ::write(fd, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  ::close(fd);
  return written;
}

}  // namespace

void crash_point(const char* name) {
  static const Wanted wanted = read_wanted();
  static std::mutex mutex;
  static long passes = 0;
  if (wanted.pass == 0 || wanted.name != name) return;
  const std::lock_guard lock(mutex);
  if (++passes == wanted.pass && log_firing(wanted.name)) ::kill(::getpid(), SIGKILL);
}

}  // namespace rt
#endif
