#pragma once
// Sandbox: a folder of a test's own in which programs of rt run, with a run folder of their own, so that all that they
// leave (processes, sockets, folders) can be found and told from everybody else's.
//
// Owner: the test. The destructor kills every process that was started in it.

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "rt/runtime/base/temporary_folder.h"
#include "rt/tests/support/command.h"

namespace rt::testing {

namespace fs = std::filesystem;

std::string built_program(const std::string& name);  // bin/NAME of this build

class Sandbox {
 public:
  Sandbox() = default;
  ~Sandbox();

  const fs::path& path() const { return folder_.path(); }
  fs::path operator/(const std::string& name) const { return path() / name; }
  fs::path write(const std::string& name, const std::string& text) const;

  Command start(std::vector<std::string> argv, std::vector<std::string> environment = {}, bool terminal = false) const;
  Command rtctl(std::vector<std::string> arguments, std::vector<std::string> environment = {}) const;
  Ended run_rtctl(std::vector<std::string> arguments, std::vector<std::string> environment = {}) const;

  std::vector<pid_t> processes() const;  // of this sandbox, whatever they did with sessions and parents
  std::vector<pid_t> processes_named(const std::string& name) const;
  void kill_all() const;  // SIGKILL of all of them, as at once as can be

  // What is left behind, in words: processes, run folders, sockets, shared memory. Empty: nothing.
  std::string leftovers() const;

 private:
  TemporaryFolder folder_;
};

// A sweep's results as `rtctl tune show --json` prints them; null where that fails.
nlohmann::json results_of(const Sandbox& sandbox, const fs::path& directory);

// Every file below trials/*/checkpoints, with its bytes.
std::map<std::string, std::string> checkpoints_of(const fs::path& directory);

// What two runs of one sweep must agree on to the bit: results without times and the count of failures, checkpoints.
struct Outcome {
  nlohmann::json results;
  std::map<std::string, std::string> checkpoints;
};
Outcome outcome_of(const Sandbox& sandbox, const fs::path& directory);

// How two outcomes differ, in words; empty: they are equal.
std::string difference(const Outcome& expected, const Outcome& seen);

}  // namespace rt::testing
