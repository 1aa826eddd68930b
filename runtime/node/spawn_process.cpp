#include "rt/runtime/node/spawn_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

extern char** environ;

namespace rt {
namespace {

std::vector<std::string> merged_environment(const std::vector<std::string>& added) {
  std::vector<std::string> all = added;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view old = *entry;
    const std::string_view name = old.substr(0, old.find('=') + 1);
    bool replaced = false;
    for (const std::string& now : added) replaced = replaced || now.compare(0, name.size(), name) == 0;
    if (!replaced) all.emplace_back(old);
  }
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> all;
  for (std::string& string : strings) all.push_back(string.data());
  all.push_back(nullptr);
  return all;
}

// In the child, between fork and exec: async-signal-safe calls only.
[[noreturn]] void become(const ProcessStart& start, char** argv, char** envp, int error_pipe) {
  ::setsid();
  if (!start.log.empty()) {
    const int log = ::open(start.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log >= 0) {
      ::dup2(log, 1);
      ::dup2(log, 2);
    }
  }
  const int null = ::open("/dev/null", O_RDONLY);
  if (null >= 0) ::dup2(null, 0);
  if (start.inherit_fd == 3) ::fcntl(3, F_SETFD, 0);
  else if (start.inherit_fd >= 0) ::dup2(start.inherit_fd, 3);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  ::signal(SIGINT, SIG_DFL);
  ::execve(argv[0], argv, envp);
  const int number = errno;
  (void)!::write(error_pipe, &number, sizeof number);
  ::_exit(127);
}

}  // namespace

Result<pid_t> spawn_process(const ProcessStart& start) {
  std::vector<std::string> arguments = start.argv;
  std::vector<std::string> environment = merged_environment(start.environment);
  const std::vector<char*> argv = pointers(arguments), envp = pointers(environment);
  int pipe_ends[2];
  if (::pipe2(pipe_ends, O_CLOEXEC) != 0) return system_error("no pipe", errno);
  // The error pipe must not be descriptor 3, which the program inherits.
  const int error_pipe = ::fcntl(pipe_ends[1], F_DUPFD_CLOEXEC, 10);
  ::close(pipe_ends[1]);

  const pid_t pid = ::fork();
  if (pid == 0) become(start, const_cast<char**>(argv.data()), const_cast<char**>(envp.data()), error_pipe);
  const int fork_error = errno;
  ::close(error_pipe);
  int exec_error = 0;
  const ssize_t n = pid > 0 ? ::read(pipe_ends[0], &exec_error, sizeof exec_error) : 0;
  ::close(pipe_ends[0]);
  if (pid < 0) return system_error("fork", fork_error);
  if (n == 0) return pid;
  ::waitpid(pid, nullptr, 0);
  return Error{Code::NotFound, "cannot run " + start.argv[0] + ": " + std::strerror(exec_error)};
}

Result<std::pair<int, int>> socket_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return system_error("no socket pair", errno);
  return std::pair{ends[0], ends[1]};
}

}  // namespace rt
