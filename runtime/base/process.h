#pragma once
// Processes by pid and by mark: what is needed to end a process tree whole, double-forked grandchildren too.
//
// A mark is an entry of the environment, "RT_RUN=xyz", that a tree's first process was started with: children inherit
// it whatever session, group or parent they move to. What starts a program with another environment escapes it.
// Owner: no state. Thread: any. Only processes of our own user are looked at.

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

#include "rt/runtime/base/result.h"

namespace rt {

// When `pid` started, in clock ticks since the machine's start: a pid and this number name one process for good, while
// a pid alone is given out again. NotFound: there is no such process.
Result<std::uint64_t> process_start_time(pid_t pid);

// The running processes (no zombies) whose environment at exec held `mark`, in whole; ascending.
Result<std::vector<pid_t>> processes_with_environment(std::string_view mark);

// SIGKILL to all of them but the caller, again and again until none is left; returns how many were killed.
// Deadline: some still ran after `limit` (in an uninterruptible read, say); the message names their pids.
Result<int> kill_marked(std::string_view mark, std::chrono::milliseconds limit);

}  // namespace rt
