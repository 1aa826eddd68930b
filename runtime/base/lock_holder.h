#pragma once
// Who holds a lock (flock) on a file, found without touching the lock: trying to take it would refuse it, for that
// moment, to the process that it is for.
//
// Owner: no state. Thread: any. Linux lists the locks in /proc/locks; those of processes in another container aren't in
// it, nor are a file server's other machines.

#include <sys/types.h>

#include <filesystem>
#include <optional>

namespace rt {

// The living process that holds the exclusive lock on `file`; nothing where there is none, or it can't be told.
std::optional<pid_t> lock_holder(const std::filesystem::path& file);

}  // namespace rt
