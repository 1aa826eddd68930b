#pragma once
// The run folder of a cluster: sockets, logs, the head's journal. One a user and a cluster, in /tmp/rt-UID (or below
// RT_RUN_DIR), mode 0700, locked by the driver as long as it lives.
//
// What a kill of everything at once leaves behind is swept by the next start: a folder whose lock is free is dead; the
// processes that carry its mark are killed, then it is removed. Starts of one user take turns (a lock on the parent),
// so that none sweeps what another is just making.

#include <sys/types.h>

#include <string>
#include <vector>

#include "rt/runtime/base/files.h"
#include "rt/runtime/base/result.h"

namespace rt {

class RunFolder {
 public:
  // Sweeps dead runs, then makes a new folder. Code::Refused where the parent folder is another user's, Invalid where
  // its path is too long for the sockets in it.
  static Result<RunFolder> create();
  RunFolder(RunFolder&&) noexcept = default;
  RunFolder& operator=(RunFolder&&) = delete;
  ~RunFolder();  // removes the folder

  const std::string& path() const { return path_; }
  const std::string& id() const { return id_; }
  std::string mark() const { return "RT_RUN=" + id_; }  // in the environment of all that the run starts

 private:
  RunFolder(std::string path, std::string id, Fd lock)
      : path_(std::move(path)), id_(std::move(id)), lock_(std::move(lock)) {}
  std::string path_, id_;
  Fd lock_;  // none once moved from
};

// Clusters of this user that live now, in the order of their ids. None where there is no folder of their kind.
struct LivingRun {
  std::string id, path;
  pid_t driver = 0;  // 0: it can't be told
};
Result<std::vector<LivingRun>> living_runs();

// Kills what is left of a run that has ended, by its id. Returns how many processes there were; Code::Deadline where
// some don't die.
Result<int> sweep_run(const std::string& id);

}  // namespace rt
