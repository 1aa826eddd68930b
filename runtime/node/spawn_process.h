#pragma once
// Starting a helper process of rt: an rtd, or a job program as fork server.

#include <sys/types.h>

#include <string>
#include <vector>

#include "rt/runtime/base/result.h"

namespace rt {

struct ProcessStart {
  std::vector<std::string> argv;         // argv[0] is the path
  std::vector<std::string> environment;  // NAME=VALUE, added to this process's own or replacing
  int inherit_fd = -1;                   // becomes descriptor 3 of the process; the others are close-on-exec
  std::string log;                       // stdout and stderr are appended here; empty: this process's own
};

// The process runs in a session of its own, so that the terminal's Ctrl-C doesn't reach it, with default signals.
// Code::NotFound when the program can't be executed.
Result<pid_t> spawn_process(const ProcessStart& start);

// A connected pair of stream sockets, both close-on-exec: {ours, theirs}.
Result<std::pair<int, int>> socket_pair();

}  // namespace rt
