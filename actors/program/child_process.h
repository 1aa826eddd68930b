#pragma once
// ChildProcess: one program started in a session of its own, with /dev/null as its input and a log as its output.
//
// Owner: who started it; `end` tells when it is over, `try_wait` how. It dies by SIGKILL with the thread that started
// it: start it on a thread that lives as long as the program shall.
// Danger: the destructor neither kills nor reaps; the owner ends the tree first (runtime/base/process_tree.h).

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rt/runtime/base/files.h"
#include "rt/runtime/base/result.h"

namespace rt {

// Readable once a child of this process has ended, whether or not it has been reaped.
class EndNotice {
 public:
  virtual ~EndNotice() = default;
  virtual int fd() const = 0;
};

// By pidfd (Linux 5.3), or by a thread that waits where there is none, or where `allow_pidfd` is false.
Result<std::unique_ptr<EndNotice>> notice_end(pid_t child, bool allow_pidfd = true);

// How a program ended: by `code`, or by `signal` where that isn't 0.
struct ExitState {
  int code = 0;
  int signal = 0;
  bool operator==(const ExitState&) const = default;
};
std::string to_string(const ExitState& state);  // "exit code 3", "signal 9 (Killed)"

struct Command {
  std::vector<std::string> argv;         // argv[0] is looked for in PATH
  std::vector<std::string> environment;  // NAME=VALUE, all of it
  std::string log;                       // appended; made where it isn't there
};

class ChildProcess {
 public:
  // Code::NotFound or Code::Invalid where the program can't be executed; nothing runs then.
  static Result<ChildProcess> start(const Command& command, bool allow_pidfd = true);

  pid_t pid() const { return pid_; }
  int end() const { return end_->fd(); }  // readable once it has ended

  // How it ended, once it has; reaps it. None before.
  std::optional<ExitState> try_wait();

 private:
  ChildProcess(pid_t pid, std::unique_ptr<EndNotice> end) : pid_(pid), end_(std::move(end)) {}

  pid_t pid_;
  std::unique_ptr<EndNotice> end_;
  std::optional<ExitState> state_;
};

}  // namespace rt
