#pragma once
// Process trees: finding and killing all that descends from a process, double-forked grandchildren too.
//
// It works without privileges: an actor's process is a subreaper, so what it starts stays below it, whatever it does
// with sessions and parents. Linux only (/proc/PID/task/*/children).

#include <sys/types.h>

#include <vector>

namespace rt {

std::vector<pid_t> children_of(pid_t pid);

// SIGSTOPs the tree from the root down until nothing new appears in it, then SIGKILLs all of it. Reaps nothing.
void kill_tree(pid_t root);

// Children of this process that aren't in `known`: orphans that fell to it as a subreaper. Kills and reaps them.
void kill_orphans(const std::vector<pid_t>& known);

}  // namespace rt
