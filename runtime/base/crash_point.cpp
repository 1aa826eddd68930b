#include "rt/runtime/base/crash_point.h"

#ifdef RT_CRASH_POINTS
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <mutex>
#include <string>

namespace rt {

void crash_point(const char* name) {
  static const char* const wanted = std::getenv("RT_CRASH_AT");
  if (!wanted) return;
  const std::string spec = wanted;
  const auto colon = spec.rfind(':');
  if (colon == std::string::npos || spec.compare(0, colon, name) != 0) return;

  static std::mutex mutex;
  static std::map<std::string, long> passes;
  const std::lock_guard lock(mutex);
  if (++passes[name] != std::strtol(spec.c_str() + colon + 1, nullptr, 10)) return;
  if (const char* log = std::getenv("RT_CRASH_LOG")) {
    const int fd = ::open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    const std::string line = std::string(name) + "\n";
    if (fd >= 0 && ::write(fd, line.data(), line.size()) > 0) ::close(fd);
  }
  ::kill(::getpid(), SIGKILL);
}

}  // namespace rt
#endif
