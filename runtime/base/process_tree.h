#pragma once
// Process trees: every process below this one, double-forked grandchildren too, however many sessions they opened.
//
// A process whose parent dies falls to the nearest subreaper above it, so once `adopt_orphans` has been called nothing
// that this process starts can leave its tree. Works without privileges; Linux only (/proc/PID/task/*/children).
// Danger: processes of other owners below this one must be spared by name.

#include <sys/types.h>

#include <chrono>
#include <set>

#include "rt/runtime/base/result.h"

namespace rt {

// Makes this process a subreaper, for good.
Status adopt_orphans();

// Every process below `root` now, without itself.
std::set<pid_t> descendants_of(pid_t root);

// The children of this process now, zombies included.
std::set<pid_t> children();

// Reaps children that have ended, other than `spared`.
void reap_children(const std::set<pid_t>& spared);

// Stops all processes below this one, kills them with SIGKILL and reaps them, except `spared` children and what is
// below those. Code::Deadline, naming a process, where one is still there afterwards (it hangs in the kernel).
Status kill_descendants(const std::set<pid_t>& spared, std::chrono::milliseconds deadline);

// Stops `root` and all below it, then kills them with SIGKILL; waits for nothing and reaps nothing. `root` is a child
// that hasn't been reaped, so that its pid is its own.
void kill_tree(pid_t root);

}  // namespace rt
