#include "rt/runtime/base/spawn_process.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

namespace rt {
namespace {

constexpr int kInherited = 3;

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

// Out of the way of descriptors 0 to 3, which the child sets anew.
Result<Fd> moved_up(int fd) {
  Fd up(::fcntl(fd, F_DUPFD_CLOEXEC, 10));
  if (!up) return system_error("cannot duplicate a descriptor", errno);
  return up;
}

// What the child needs, made before the fork: after it only async-signal-safe calls are allowed.
struct ChildPlan {
  char** argv;
  char** environment;
  int log;  // -1: this process's own output
  int null;
  int inherited;
  int failure;   // the write end of a pipe; takes errno, or closes with a successful exec
  pid_t parent;  // 0: the child outlives it
};

void take_default_signals() {
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);  // SIGKILL and SIGSTOP refuse, and are so
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

bool take_descriptors(const ChildPlan& plan) {
  if (::dup2(plan.null, STDIN_FILENO) < 0) return false;
  if (plan.log >= 0 && (::dup2(plan.log, STDOUT_FILENO) < 0 || ::dup2(plan.log, STDERR_FILENO) < 0)) return false;
  return plan.inherited < 0 || ::dup2(plan.inherited, kInherited) >= 0;
}

[[noreturn]] void run_child(const ChildPlan& plan) {
  ::setsid();
  if (plan.parent != 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != plan.parent) ::_exit(127);  // the parent died before the line above
  }
  take_default_signals();
  environ = plan.environment;  // execvp looks in the program's own PATH
  if (take_descriptors(plan)) {
    // What others opened without O_CLOEXEC. From Linux 5.11 on; before, it is as they left it.
    ::syscall(SYS_close_range, plan.inherited < 0 ? kInherited : kInherited + 1, ~0u, CLOSE_RANGE_CLOEXEC);
    ::execvp(plan.argv[0], plan.argv);
  }
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

// What the child wrote before it gave up; 0 where its exec closed the pipe.
int failure_of(const Fd& reader) {
  int number = 0;
  ssize_t got = 0;
  do got = ::read(reader.get(), &number, sizeof number);
  while (got < 0 && errno == EINTR);
  return got == 0 ? 0 : number;
}

}  // namespace

Result<pid_t> spawn_process(const ProcessStart& start) {
  if (start.argv.empty() || start.argv[0].empty())
    return Error{Code::Invalid, "there is no program to run: its name is empty"};
  Fd log;
  if (!start.log.empty()) {
    RT_TRY(file, open_file(start.log, O_WRONLY | O_CREAT | O_APPEND));
    RT_TRY(up, moved_up(file.get()));
    log = std::move(up);
  }
  Fd inherited;
  if (start.inherit_fd >= 0) {
    RT_TRY(up, moved_up(start.inherit_fd));
    inherited = std::move(up);
  }
  RT_TRY(null_file, open_file("/dev/null", O_RDONLY));
  RT_TRY(null, moved_up(null_file.get()));
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return system_error("cannot make a pipe", errno);
  const Fd reader(ends[0]);
  Fd low_writer(ends[1]);
  RT_TRY(writer, moved_up(low_writer.get()));
  low_writer.reset();

  const std::vector<char*> argv = pointers(start.argv), environment = pointers(start.environment);
  const ChildPlan plan{.argv = const_cast<char**>(argv.data()),
                       .environment = const_cast<char**>(environment.data()),
                       .log = log.get(),
                       .null = null.get(),
                       .inherited = inherited.get(),
                       .failure = writer.get(),
                       .parent = start.dies_with_thread ? ::getpid() : 0};
  const pid_t pid = ::fork();
  if (pid < 0) return system_error("cannot fork for '" + start.argv[0] + "'", errno);
  if (pid == 0) run_child(plan);
  writer.reset();
  const int number = failure_of(reader);
  if (number == 0) return pid;
  ::waitpid(pid, nullptr, 0);
  return cannot_execute(start.argv[0], number);
}

std::vector<std::string> environment_with(const std::vector<std::string>& added) {
  std::vector<std::string> all = added;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view old = *entry;
    const std::string_view name = old.substr(0, old.find('=') + 1);
    if (std::none_of(added.begin(), added.end(), [&](const std::string& now) { return now.starts_with(name); }))
      all.emplace_back(old);
  }
  return all;
}

Result<std::pair<Fd, Fd>> socket_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return system_error("cannot make a pair of sockets", errno);
  return std::pair{Fd(ends[0]), Fd(ends[1])};
}

}  // namespace rt
