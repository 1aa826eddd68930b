#pragma once
// The fork server: a job program that stopped in rt::connect and forks an actor's process on each request.
//
// Runs in the job program, on its only thread (a second one refuses service, by name: a fork would lose it). Keeps its
// children: it is their subreaper, reports each exit, kills trees when asked, and when its agent is gone kills all of
// them and ends. Nothing but the agent's socket is read; a child starts with that socket closed.

#include <cstdint>
#include <functional>
#include <string>

namespace rt {

// Where the agent's end comes from: RT_ROLE=fork_server and RT_FORK_FD in the environment.
bool is_fork_server();

// Serves until the agent is gone; returns in a child only, with the StartWorker's bytes (aligned to 8).
// `warm_up` runs once before the first fork, and may not start a thread that stays.
std::string serve_forks(const std::function<void()>& warm_up);

}  // namespace rt
