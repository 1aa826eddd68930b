#include "rt/tests/support/sandbox.h"

#include <signal.h>
#include <unistd.h>

#include <fstream>

#include "rt/runtime/base/files.h"
#include "rt/runtime/base/process.h"

namespace rt::testing {
namespace {

std::string mark_of(const fs::path& folder) { return "RT_RUN_DIR=" + folder.string(); }

std::string name_of(pid_t pid) {
  const auto name = read_file("/proc/" + std::to_string(pid) + "/comm");
  return name ? name->substr(0, name->find('\n')) : "";
}

}  // namespace

std::string built_program(const std::string& name) { return std::string(RT_BUILD_DIR) + "/bin/" + name; }

Sandbox::~Sandbox() { (void)kill_marked(mark_of(path()), std::chrono::seconds(5)); }

fs::path Sandbox::write(const std::string& name, const std::string& text) const {
  std::ofstream(path() / name) << text;
  return path() / name;
}

Command Sandbox::start(std::vector<std::string> argv, std::vector<std::string> environment, bool terminal) const {
  environment.push_back(mark_of(path()));
  return Command(std::move(argv), std::move(environment), path(), terminal);
}

Command Sandbox::rtctl(std::vector<std::string> arguments, std::vector<std::string> environment) const {
  arguments.insert(arguments.begin(), built_program("rtctl"));
  return start(std::move(arguments), std::move(environment));
}

Ended Sandbox::run_rtctl(std::vector<std::string> arguments, std::vector<std::string> environment) const {
  return rtctl(std::move(arguments), std::move(environment)).wait();
}

std::vector<pid_t> Sandbox::processes() const {
  auto found = processes_with_environment(mark_of(path())).get();
  std::erase(found, ::getpid());
  return found;
}

std::vector<pid_t> Sandbox::processes_named(const std::string& name) const {
  std::vector<pid_t> found = processes();
  std::erase_if(found, [&](pid_t pid) { return name_of(pid) != name; });
  return found;
}

void Sandbox::kill_all() const {
  for (const pid_t pid : processes()) ::kill(pid, SIGKILL);
}

std::string Sandbox::leftovers() const {
  std::string left;
  for (const pid_t pid : processes()) left += "process " + std::to_string(pid) + " (" + name_of(pid) + ")\n";
  for (const auto& entry : fs::directory_iterator(path()))
    if (entry.path().filename().string().rfind("rt-", 0) == 0)
      for (const auto& run : fs::directory_iterator(entry)) left += "run folder " + run.path().string() + "\n";
  for (const auto& entry : fs::directory_iterator("/dev/shm"))
    if (entry.path().filename().string().rfind("rt-", 0) == 0) left += "shared memory " + entry.path().string() + "\n";
  return left;
}

nlohmann::json results_of(const Sandbox& sandbox, const fs::path& directory) {
  const Ended shown = sandbox.run_rtctl({"tune", "show", directory.string(), "--json"});
  return shown.exit_code == 0 ? nlohmann::json::parse(shown.output) : nlohmann::json();
}

std::map<std::string, std::string> checkpoints_of(const fs::path& directory) {
  std::map<std::string, std::string> files;
  if (!fs::exists(directory / "trials")) return files;
  for (const auto& entry : fs::recursive_directory_iterator(directory / "trials")) {
    const std::string name = fs::relative(entry.path(), directory).string();
    if (name.find("/checkpoints/") != std::string::npos && entry.is_regular_file())
      files[name] = read_file(entry.path()).get();
  }
  return files;
}

Outcome outcome_of(const Sandbox& sandbox, const fs::path& directory) {
  Outcome outcome{results_of(sandbox, directory), checkpoints_of(directory)};
  if (outcome.results.contains("trials"))
    for (auto& trial : outcome.results["trials"])
      for (const char* varies : {"seconds", "failures", "error"}) trial.erase(varies);
  return outcome;
}

std::string difference(const Outcome& expected, const Outcome& seen) {
  std::string text;
  if (expected.results != seen.results)
    text += "results were to be\n" + expected.results.dump(1) + "\nand are\n" + seen.results.dump(1) + "\n";
  for (const auto& [name, bytes] : expected.checkpoints)
    if (!seen.checkpoints.contains(name))
      text += "missing: " + name + "\n";
    else if (seen.checkpoints.at(name) != bytes)
      text += "other bytes: " + name + "\n";
  for (const auto& [name, bytes] : seen.checkpoints)
    if (!expected.checkpoints.contains(name)) text += "too much: " + name + "\n";
  return text;
}

}  // namespace rt::testing
