#include "rt/actors/embedded.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <thread>

#include "rt/actors/cluster.h"
#include "rt/runtime/net/blocking_frames.h"
#include "rt/runtime/node/spawn_process.h"

namespace rt {
namespace {

namespace fs = std::filesystem;

constexpr int kStartLimitMs = 10000;

bool is_executable(const fs::path& path) { return ::access(path.c_str(), X_OK) == 0 && fs::is_regular_file(path); }

// The end of a process that was told to go: by itself within 5 s, or by SIGKILL.
void wait_for_end(pid_t pid) {
  if (pid <= 0) return;
  for (int i = 0; i < 5000; ++i) {
    if (::waitpid(pid, nullptr, WNOHANG) != 0) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
}

}  // namespace

Result<std::string> find_rtd() {
  if (const char* chosen = std::getenv("RT_RTD"); chosen && *chosen) return std::string(chosen);
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
  RT_TRY(folder, RunFolder::create());
  std::unique_ptr<Embedded> embedded(new Embedded(std::move(folder)));
  RT_CHECK(embedded->start_head());
  RT_CHECK(embedded->start_node(options));
  return embedded;
}

Status Embedded::start_head() {
  RT_TRY(rtd, find_rtd());
  RT_TRY(ends, socket_pair());
  head_fd_ = ends.first;
  const auto pid = spawn_process({.argv = {rtd, "head", "--run", folder_.path(), "--driver-fd", "3"},
                                  .environment = {folder_.mark()},
                                  .inherit_fd = ends.second,
                                  .log = folder_.path() + "/head.log"});
  ::close(ends.second);
  if (!pid) return pid.error();
  head_ = *pid;
  pollfd listening{head_fd_, POLLIN, 0};
  if (::poll(&listening, 1, kStartLimitMs) <= 0 || !read_control(head_fd_))
    return Error{Code::Unavailable, "the head did not start; its output is in " + folder_.path() + "/head.log"};
  return Unit{};
}

Status Embedded::start_node(const ConnectOptions& options) {
  RT_TRY(rtd, find_rtd());
  RT_TRY(ends, socket_pair());
  agent_fd_ = ends.first;
  const auto pid = spawn_process({.argv = {rtd, "node", "--run", folder_.path(), "--mark", folder_.mark(), "--driver-fd", "3",
                                           "--cpus", std::to_string(options.cpus), "--simulate-gpus",
                                           std::to_string(options.simulate_gpus)},
                                  .environment = {folder_.mark()},
                                  .inherit_fd = ends.second,
                                  .log = folder_.path() + "/node.log"});
  ::close(ends.second);
  if (!pid) return pid.error();
  node_ = *pid;
  return Unit{};
}

int Embedded::take_agent_fd() { return std::exchange(agent_fd_, -1); }

void Embedded::kill_everything() {
  for (const pid_t pid : {node_, head_})
    if (pid > 0) ::kill(pid, SIGKILL);
  sweep_run(folder_.id());
}

Embedded::~Embedded() {
  if (agent_fd_ >= 0) ::close(agent_fd_);
  wait_for_end(node_);
  if (head_fd_ >= 0) ::close(head_fd_);
  wait_for_end(head_);
  sweep_run(folder_.id());
}

}  // namespace rt
