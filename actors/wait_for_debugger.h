#pragma once
// RT_DEBUG=NAME: the actor of that name, or of that class, waits for a debugger before its constructor.

#include "rt/actors/worker_start.h"

namespace rt::detail {

// Is it the one that RT_DEBUG names? By its name or its class, that with or without its namespace.
bool is_to_be_debugged(const WorkerStart& start, std::string_view wanted);

// Where RT_DEBUG names it: has the drivers print how to attach gdb, again every ten seconds, and returns once a tracer
// is attached or the process is sent SIGCONT.
void wait_for_debugger(const WorkerStart& start, Client& client);

}  // namespace rt::detail
