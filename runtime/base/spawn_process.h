#pragma once
// Starting a program in a process of its own: an rtd, a job program as fork server, a trial that is a program.
//
// The process leads a session of its own, so that the terminal's Ctrl-C doesn't reach it; it has default signals, none
// of them blocked, /dev/null as its input, and of this process's descriptors only those that are named here.
// Owner: the caller reaps it. Thread: any; returns once the program runs, or can't.

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "rt/runtime/base/files.h"
#include "rt/runtime/base/result.h"

namespace rt {

struct ProcessStart {
  std::vector<std::string> argv;         // argv[0]: a path, or a name that is looked for in `environment`'s PATH
  std::vector<std::string> environment;  // NAME=VALUE, all of it
  std::string log;                       // stdout and stderr are appended here; empty: this process's own
  int inherit_fd = -1;                   // becomes descriptor 3 of the process
  bool dies_with_thread = false;         // by SIGKILL, when the thread that calls this has ended
};

// Code::NotFound or Code::Invalid where the program can't be executed, or its log can't be opened; nothing runs then.
Result<pid_t> spawn_process(const ProcessStart& start);

// This process's environment with `added` in it, each NAME=VALUE replacing what NAME was.
std::vector<std::string> environment_with(const std::vector<std::string>& added);

// A connected pair of stream sockets, both close-on-exec.
Result<std::pair<Fd, Fd>> socket_pair();

}  // namespace rt
