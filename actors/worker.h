#pragma once
// A worker: the process of one actor, forked from a fork server.

#include <string>

namespace rt::detail {

// Runs the actor that `start_worker` (a StartWorker's bytes) describes until it is killed, its agent is gone, or it
// can't be constructed. Its main thread runs the methods, one at a time, in the order in which calls arrive.
[[noreturn]] void run_worker(const std::string& start_worker);

}  // namespace rt::detail
