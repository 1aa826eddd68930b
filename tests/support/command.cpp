#include "rt/tests/support/command.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include "rt/runtime/base/files.h"

namespace rt::testing {
namespace {

std::string content(const std::filesystem::path& file) {
  const auto bytes = read_file(file);
  return bytes ? *bytes : "";
}

// script(1) gives the program a terminal and copies what it prints.
std::vector<std::string> in_a_terminal(const std::vector<std::string>& argv) {
  std::string line = "exec";
  for (const std::string& item : argv) line += " '" + item + "'";
  return {"/usr/bin/script", "--quiet", "--return", "--command", line, "/dev/null"};
}

[[noreturn]] void become(std::vector<std::string> argv, const std::vector<std::string>& environment, const char* out,
                         const char* err) {
  ::dup2(::open("/dev/null", O_RDONLY), 0);
  ::dup2(::open(out, O_WRONLY | O_CREAT | O_APPEND, 0600), 1);
  ::dup2(::open(err, O_WRONLY | O_CREAT | O_APPEND, 0600), 2);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::signal(number, SIG_DFL);  // whatever started the tests
  for (const std::string& entry : environment) {
    const auto equals = entry.find('=');
    ::setenv(entry.substr(0, equals).c_str(), entry.c_str() + equals + 1, 1);
  }
  std::vector<char*> pointers;
  for (std::string& item : argv) pointers.push_back(item.data());
  pointers.push_back(nullptr);
  ::setsid();
  ::execv(pointers[0], pointers.data());
  ::_exit(127);
}

}  // namespace

void detail::pause_between_looks() { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }

Command::Command(std::vector<std::string> argv, std::vector<std::string> environment,
                 const std::filesystem::path& folder, bool terminal) {
  static std::atomic<int> count = 0;
  const std::string number = std::to_string(++count);
  out_ = folder / ("out-" + number);
  err_ = folder / ("err-" + number);
  if (terminal) argv = in_a_terminal(argv);
  pid_ = ::fork();
  if (pid_ == 0) become(argv, environment, out_.c_str(), err_.c_str());
  if (pid_ < 0) throw std::runtime_error("fork failed");
}

Command::Command(Command&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), out_(other.out_), err_(other.err_), ended_(other.ended_) {}

Command::~Command() {
  if (pid_ <= 0 || ended_) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void Command::send(int signal) const { ::kill(pid_, signal); }

std::string Command::output() const { return content(out_); }
std::string Command::errors() const { return content(err_); }

bool Command::says(std::string_view text, std::chrono::milliseconds limit) {
  return eventually(
      [&] { return output().find(text) != std::string::npos || errors().find(text) != std::string::npos; }, limit);
}

Ended Command::wait(std::chrono::milliseconds limit) {
  if (ended_) return *ended_;
  int status = 0;
  const bool over = eventually([&] { return ::waitpid(pid_, &status, WNOHANG) != 0; }, limit);
  Ended ended{.timed_out = !over, .output = output(), .errors = errors()};
  if (!over) return ended;
  if (WIFEXITED(status)) ended.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) ended.signal = WTERMSIG(status);
  ended_ = ended;
  return ended;
}

}  // namespace rt::testing
