#include "rt/runtime/node/death_cause.h"

#include <sys/wait.h>

#include <csignal>
#include <cstring>

#include "rt/runtime/base/byte_size.h"

namespace rt {

Death death_cause(const SeenDeath& seen) {
  if (!WIFSIGNALED(seen.status)) {
    const int code = WEXITSTATUS(seen.status);
    return {.cause = "exit code " + std::to_string(code), .exit_code = code};
  }
  const int signal = WTERMSIG(seen.status);
  if (signal == SIGKILL && seen.memory_used > 0)
    return {.cause = "out of memory: it used " + byte_size(seen.memory_used) + ", its limit is " +
                     byte_size(seen.memory_limit),
            .kind = wire::DeathKind::OUT_OF_MEMORY,
            .signal = signal};
  if (signal == SIGKILL && !seen.kill_asked && seen.kernel_ran_out)
    return {.cause = "out of memory: the kernel killed it, as this node's " + byte_size(seen.node_memory) +
                     " were used up; reserve with `memory` what an actor needs, so that fewer run here at once",
            .kind = wire::DeathKind::OUT_OF_MEMORY,
            .signal = signal};
  const char* name = ::sigabbrev_np(signal);
  return {.cause = "signal " + std::to_string(signal) + " (SIG" + (name ? name : "?") + ")",
          .kind = wire::DeathKind::SIGNALLED,
          .signal = signal};
}

}  // namespace rt
