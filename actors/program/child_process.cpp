#include "rt/actors/program/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace rt {
namespace {

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

// What the child needs, made before the fork: after it only async-signal-safe calls are allowed.
struct ChildPlan {
  char** argv;
  char** environment;
  int log;
  int null;
  int failure;  // the write end of a pipe; takes errno, or closes with a successful exec
  pid_t parent;
};

[[noreturn]] void run_child(const ChildPlan& plan) {
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != plan.parent) ::_exit(127);  // the parent died before the line above
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  environ = plan.environment;  // execvp looks in the program's own PATH
  if (::dup2(plan.null, STDIN_FILENO) >= 0 && ::dup2(plan.log, STDOUT_FILENO) >= 0 &&
      ::dup2(plan.log, STDERR_FILENO) >= 0)
    ::execvp(plan.argv[0], plan.argv);
  const int number = errno;
  if (::write(plan.failure, &number, sizeof number) < 0) ::_exit(126);
  ::_exit(127);
}

Error cannot_execute(const std::string& program, int number) {
  const std::string what = "cannot run '" + program + "': " + ::strerror(number);
  if (number == ENOENT)
    return {Code::NotFound, what + "; give its path, or put its folder into PATH (a script's #! line counts too)"};
  if (number == EACCES || number == ENOEXEC)
    return {Code::Invalid, what + "; make it executable (chmod +x), or name its interpreter in `command`"};
  return {Code::System, what};
}

Result<pid_t> fork_and_exec(const Command& command, const Fd& log, const Fd& null) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return system_error("cannot make a pipe", errno);
  const Fd reader(ends[0]);
  Fd writer(ends[1]);
  std::vector<char*> argv = pointers(command.argv);
  std::vector<char*> environment = pointers(command.environment);
  const ChildPlan plan{argv.data(), environment.data(), log.get(), null.get(), writer.get(), ::getpid()};

  const pid_t pid = ::fork();
  if (pid < 0) return system_error("cannot fork for '" + command.argv[0] + "'", errno);
  if (pid == 0) run_child(plan);
  writer.reset();
  int number = 0;
  ssize_t got = 0;
  do got = ::read(reader.get(), &number, sizeof number);
  while (got < 0 && errno == EINTR);
  if (got == 0) return pid;
  ::waitpid(pid, nullptr, 0);
  return cannot_execute(command.argv[0], number);
}

}  // namespace

std::string to_string(const ExitState& state) {
  if (state.signal == 0) return "exit code " + std::to_string(state.code);
  return "signal " + std::to_string(state.signal) + " (" + ::strsignal(state.signal) + ")";
}

Result<ChildProcess> ChildProcess::start(const Command& command, bool allow_pidfd) {
  if (command.argv.empty() || command.argv[0].empty())
    return Error{Code::Invalid, "there is no program to run: `program` or `command` is empty"};
  RT_TRY(log, open_file(command.log, O_WRONLY | O_CREAT | O_APPEND));
  RT_TRY(null, open_file("/dev/null", O_RDONLY));

  RT_TRY(pid, fork_and_exec(command, log, null));
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
