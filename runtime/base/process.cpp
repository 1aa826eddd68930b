#include "rt/runtime/base/process.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <set>
#include <thread>

#include "rt/runtime/base/files.h"

namespace rt {
namespace fs = std::filesystem;
namespace {

std::optional<pid_t> parse_pid(const std::string& name) {
  pid_t pid = 0;
  const auto [end, code] = std::from_chars(name.data(), name.data() + name.size(), pid);
  if (code != std::errc{} || end != name.data() + name.size()) return std::nullopt;
  return pid;
}

bool is_of_our_user(const fs::path& folder) {
  struct stat info {};
  return ::stat(folder.c_str(), &info) == 0 && info.st_uid == ::geteuid();
}

// Field `number` of /proc/PID/stat, counted from 1 as proc(5) does, from 3 on. Field 2 is the program's name in
// parentheses and may hold anything, so the count begins at its end. None where the text ends before.
std::optional<std::string> stat_field(const std::string& stat, int number) {
  std::size_t at = stat.rfind(')');
  for (int field = 2; field < number && at != std::string::npos; ++field) at = stat.find(' ', at + 1);
  if (at == std::string::npos) return std::nullopt;
  return stat.substr(at + 1, stat.find_first_of(" \n", at + 1) - at - 1);
}

// Whether an empty environment is the truth. In the middle of exec(2) a process shows none although it will have one,
// as does one that was opened just before; kernel threads and processes that end never get one.
bool has_no_environment(const fs::path& process) {
  constexpr unsigned long kExiting = 0x4, kKernelThread = 0x200000;  // PF_EXITING, PF_KTHREAD
  const auto stat = read_file(process / "stat");
  if (!stat) return true;
  const auto state = stat_field(*stat, 3), flags = stat_field(*stat, 9);
  const auto start = stat_field(*stat, 50), end = stat_field(*stat, 51);  // of the environment in its memory
  return !state || !flags || *state == "Z" || *state == "X" ||
         (std::strtoul(flags->c_str(), nullptr, 10) & (kExiting | kKernelThread)) != 0 ||
         (start == end && start != "0");
}

bool has_entry(std::string_view environment, std::string_view mark) {
  while (!environment.empty()) {
    const auto end = std::min(environment.find('\0'), environment.size());
    if (environment.substr(0, end) == mark) return true;
    environment.remove_prefix(std::min(end + 1, environment.size()));
  }
  return false;
}

bool holds(const fs::path& process, std::string_view mark) {
  constexpr int kLooks = 1000;  // at a process that is starting a program, some microseconds each
  for (int look = 0; look < kLooks; ++look) {
    const auto environment = read_file(process / "environ");
    if (!environment) return false;
    if (!environment->empty() || has_no_environment(process)) return has_entry(*environment, mark);
    std::this_thread::yield();
  }
  return false;
}

}  // namespace

Result<std::uint64_t> process_start_time(pid_t pid) {
  RT_TRY(stat, read_file(fmt::format("/proc/{}/stat", pid)));
  const auto field = stat_field(stat, 22).value_or("");
  std::uint64_t ticks = 0;
  if (std::from_chars(field.data(), field.data() + field.size(), ticks).ec != std::errc{}) {
    return Error{Code::Corrupt, fmt::format("/proc/{}/stat has no start time: '{}'", pid, stat)};
  }
  return ticks;
}

Result<std::vector<pid_t>> processes_with_environment(std::string_view mark) {
  std::vector<pid_t> found;
  std::error_code code;
  for (fs::directory_iterator it("/proc", code), end; !code && it != end; it.increment(code)) {
    const auto pid = parse_pid(it->path().filename().string());
    if (pid && is_of_our_user(it->path()) && holds(it->path(), mark)) found.push_back(*pid);
  }
  if (code) return system_error("cannot list the processes in /proc", code.value());
  std::sort(found.begin(), found.end());
  return found;
}

Result<int> kill_marked(std::string_view mark, std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  std::set<pid_t> killed;
  // Two empty looks in a row: while one goes through /proc, a process may fork into a part already seen and end.
  for (int empty_looks = 0; empty_looks < 2;) {
    RT_TRY(left, processes_with_environment(mark));
    std::erase(left, ::getpid());
    if (left.empty()) {
      ++empty_looks;
      continue;
    }
    empty_looks = 0;
    if (std::chrono::steady_clock::now() > deadline) {
      return Error{Code::Deadline, fmt::format("processes {} ({}) still run {} ms after SIGKILL: look at them with ps, "
                                               "they may wait for a disk or a device",
                                               fmt::join(left, ", "), mark, limit.count())};
    }
    for (const pid_t pid : left) {
      if (::kill(pid, SIGKILL) == 0) killed.insert(pid);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return static_cast<int>(killed.size());
}

}  // namespace rt
