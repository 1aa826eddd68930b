#include "rt/actors/embedded.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <vector>

#include "rt/actors/cluster.h"
#include "rt/actors/program/child_process.h"
#include "rt/runtime/base/log.h"
#include "rt/runtime/base/log_tail.h"
#include "rt/runtime/base/spawn_process.h"
#include "rt/runtime/net/blocking_frames.h"

namespace rt {
namespace {

namespace fs = std::filesystem;

constexpr int kStartLimitMs = 10000;

bool is_executable(const fs::path& path) { return ::access(path.c_str(), X_OK) == 0 && fs::is_regular_file(path); }

// The end of a process that was told to go: by itself within the limit, or by SIGKILL.
void wait_for_end(pid_t pid) {
  if (pid <= 0) return;
  constexpr int kLimitMs = 15000;  // what a node needs at most to kill what doesn't die at once
  {
    const auto end = notice_end(pid);
    pollfd ended{end ? (*end)->fd() : -1, POLLIN, 0};
    int rc = 0;
    do rc = end ? ::poll(&ended, 1, kLimitMs) : 0;
    while (rc < 0 && errno == EINTR);
    if (rc <= 0) ::kill(pid, SIGKILL);
  }
  ::waitpid(pid, nullptr, 0);
}

}  // namespace

Result<std::string> find_rtd() {
  if (const char* chosen = std::getenv("RT_RTD"); chosen && *chosen) {
    if (is_executable(chosen)) return std::string(chosen);
    return Error{Code::NotFound,
                 std::string("RT_RTD names ") + chosen + ", which is no program; unset it, or set it to rtd's path"};
  }
  std::error_code ignored;
  const fs::path self = fs::read_symlink("/proc/self/exe", ignored);
  std::vector<fs::path> places{self.parent_path() / "rtd", RT_BUILD_BIN "/rtd", RT_INSTALL_BIN "/rtd"};
  std::stringstream path(std::getenv("PATH") ? std::getenv("PATH") : "");
  for (std::string folder; std::getline(path, folder, ':');) places.push_back(fs::path(folder) / "rtd");
  for (const fs::path& place : places)
    if (is_executable(place)) return place.string();
  return Error{Code::NotFound, "rtd was not found beside " + self.string() +
                                   ", where rt was built or installed, or in PATH; set RT_RTD to its path"};
}

Result<std::unique_ptr<Embedded>> Embedded::start(const ConnectOptions& options) {
  RT_TRY(rtd, find_rtd());
  RT_TRY(folder, RunFolder::create());
  std::unique_ptr<Embedded> embedded(new Embedded(std::move(folder)));
  RT_CHECK(embedded->start_head(rtd));
  RT_CHECK(embedded->start_node(rtd, options));
  return embedded;
}

Status Embedded::start_head(const std::string& rtd) {
  RT_TRY(ends, socket_pair());
  head_fd_ = std::move(ends.first);
  const std::string log = folder_.path() + "/head.log";
  RT_TRY(pid, spawn_process({.argv = {rtd, "head", "--run", folder_.path(), "--driver-fd", "3"},
                             .environment = environment_with({folder_.mark()}),
                             .log = log,
                             .inherit_fd = ends.second.get()}));
  head_ = pid;
  ends.second.reset();
  pollfd listening{head_fd_.get(), POLLIN, 0};
  int rc;
  do rc = ::poll(&listening, 1, kStartLimitMs);
  while (rc < 0 && errno == EINTR);
  if (rc > 0 && read_control(head_fd_.get())) return Unit{};
  return with_log({Code::Unavailable, rc == 0 ? "the head did not start within " + std::to_string(kStartLimitMs) + " ms"
                                              : std::string("the head ended as it started")},
                  log);
}

Status Embedded::start_node(const std::string& rtd, const ConnectOptions& options) {
  RT_TRY(ends, socket_pair());
  agent_fd_ = std::move(ends.first);
  std::vector<std::string> argv{rtd,
                                "node",
                                "--run",
                                folder_.path(),
                                "--mark",
                                folder_.mark(),
                                "--driver-fd",
                                "3",
                                "--cpus",
                                std::to_string(options.cpus),
                                "--simulate-gpus",
                                std::to_string(options.simulate_gpus),
                                "--memory",
                                std::to_string(options.memory),
                                "--object-store",
                                std::to_string(options.object_store)};
  for (const Resource& resource : options.resources) {
    argv.emplace_back("--resource");
    argv.push_back(std::string(resource.name) + "=" + std::to_string(resource.amount));
  }
  RT_TRY(pid, spawn_process({.argv = argv,
                             .environment = environment_with({folder_.mark()}),
                             .log = folder_.path() + "/node.log",
                             .inherit_fd = ends.second.get()}));
  node_ = pid;
  return Unit{};
}

int Embedded::take_agent_fd() { return agent_fd_.release(); }

Error Embedded::with_log(Error error, const std::string& log) const {
  error.message += "; the last lines of its log:\n" + last_lines(log);
  return error;
}

Error Embedded::explain(Error error) const { return with_log(std::move(error), folder_.path() + "/node.log"); }

void Embedded::kill_everything() {
  for (const pid_t pid : {node_, head_})
    if (pid > 0) ::kill(pid, SIGKILL);
  if (const auto killed = sweep_run(folder_.id()); !killed) log::error("{}", killed.error().message);
}

Embedded::~Embedded() {
  agent_fd_.reset();
  wait_for_end(node_);
  head_fd_.reset();
  wait_for_end(head_);
  if (const auto killed = sweep_run(folder_.id()); !killed) log::error("{}", killed.error().message);
  if (on_ended_) on_ended_();
}

}  // namespace rt
