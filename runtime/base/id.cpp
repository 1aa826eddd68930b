#include "rt/runtime/base/id.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <cerrno>

namespace rt {

Result<std::string> random_id() {
  std::uint64_t halves[2];  // up to 256 bytes come whole or not at all (getrandom(2))
  ssize_t size;
  do size = ::getrandom(halves, sizeof halves, 0);
  while (size < 0 && errno == EINTR);
  if (size != sizeof halves) return system_error("cannot get random bytes from the kernel (getrandom)", errno);
  return fmt::format("{:016x}{:016x}", halves[0], halves[1]);
}

}  // namespace rt
