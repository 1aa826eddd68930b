#pragma once
// What a worker died of, from what its agent saw. Pure.
//
// A SIGKILL has a reason that a status doesn't tell: rt's own, over a memory limit or because it was asked to; the
// kernel's, for want of memory; or anybody's.

#include <cstdint>
#include <string>

#include "rt/runtime/wire/control.capnp.h"

namespace rt {

struct SeenDeath {
  int status = 0;                 // as waitpid gives it
  bool kill_asked = false;        // by the head
  std::uint64_t memory_used = 0;  // more than its limit, for which the agent killed it; 0: it didn't
  std::uint64_t memory_limit = 0;
  bool kernel_ran_out = false;  // the kernel's count of such kills has grown
  std::uint64_t node_memory = 0;
};

struct Death {
  std::string cause;
  wire::DeathKind kind = wire::DeathKind::EXITED;
  int exit_code = -1, signal = 0;
  bool keeper_lost = false;
};

Death death_cause(const SeenDeath& seen);

}  // namespace rt
