#include "rt/actors/program/child_process.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "rt/runtime/base/spawn_process.h"

namespace rt {

std::string to_string(const ExitState& state) {
  if (state.signal == 0) return "exit code " + std::to_string(state.code);
  return "signal " + std::to_string(state.signal) + " (" + ::strsignal(state.signal) + ")";
}

Result<ChildProcess> ChildProcess::start(const Command& command, bool allow_pidfd) {
  if (command.argv.empty() || command.argv[0].empty())
    return Error{Code::Invalid, "there is no program to run: `program` or `command` is empty"};
  RT_TRY(pid,
         spawn_process(
             {.argv = command.argv, .environment = command.environment, .log = command.log, .dies_with_thread = true}));
  auto end = notice_end(pid, allow_pidfd);
  if (!end) {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    return end.error();
  }
  return ChildProcess(pid, *std::move(end));
}

std::optional<ExitState> ChildProcess::try_wait() {
  int status = 0;
  if (!state_ && ::waitpid(pid_, &status, WNOHANG) == pid_)
    state_ = WIFSIGNALED(status) ? ExitState{.signal = WTERMSIG(status)} : ExitState{.code = WEXITSTATUS(status)};
  return state_;
}

}  // namespace rt
