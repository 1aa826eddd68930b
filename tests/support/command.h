#pragma once
// Command: a program that a test started, with its output and its end. Waits have a deadline; nothing waits for ever.
//
// Owner: the test. Thread: one. The destructor kills the process (not what it started: the sandbox sees to that).

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rt::testing {

constexpr std::chrono::seconds kPatience{40};  // ten times and more what anything here takes

// Calls `look` until it is true or the deadline is over; returns what it said last.
template <class Look>
bool eventually(Look&& look, std::chrono::milliseconds limit = kPatience);

struct Ended {
  int exit_code = -1;  // -1: a signal ended it, or it was still running at the deadline
  int signal = 0;
  bool timed_out = false;
  std::string output, errors;
};

class Command {
 public:
  // `environment`: NAME=VALUE, added to this process's own. Output goes to files in `folder`, or, with `terminal`, both
  // streams to a terminal of the program's own and from there to `output`.
  Command(std::vector<std::string> argv, std::vector<std::string> environment, const std::filesystem::path& folder,
          bool terminal = false);
  Command(Command&& other) noexcept;
  ~Command();

  pid_t pid() const { return pid_; }
  void send(int signal) const;
  bool says(std::string_view text, std::chrono::milliseconds limit = kPatience);  // waits for it in either stream
  Ended wait(std::chrono::milliseconds limit = kPatience);

 private:
  std::string output() const;
  std::string errors() const;

  pid_t pid_ = -1;
  std::filesystem::path out_, err_;
  std::optional<Ended> ended_;
};

namespace detail {
void pause_between_looks();
}

template <class Look>
bool eventually(Look&& look, std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!look()) {
    if (std::chrono::steady_clock::now() > deadline) return look();
    detail::pause_between_looks();
  }
  return true;
}

}  // namespace rt::testing
