#include "rt/actors/program/program_start.h"

#include <map>

namespace rt {
namespace {

using Variables = std::map<std::string, std::string>;

void add(Variables& variables, const std::vector<std::string>& assignments) {
  for (const std::string& assignment : assignments) {
    const auto equals = assignment.find('=');
    if (equals != std::string::npos) variables[assignment.substr(0, equals)] = assignment.substr(equals + 1);
  }
}

// What torchrun sets (torch/distributed/elastic/agent/server/local_elastic_agent.py), so that a program of its kind
// runs unchanged.
void add_torchrun(Variables& variables, const ProgramStart& start) {
  const bool one_node = start.local_rank < 0;
  const auto set = [&](const char* name, int value) { variables[name] = std::to_string(value); };
  set("RANK", start.rank);
  set("WORLD_SIZE", start.size);
  set("LOCAL_RANK", one_node ? start.rank : start.local_rank);
  set("LOCAL_WORLD_SIZE", one_node ? start.size : start.local_size);
  set("GROUP_RANK", start.node);
  set("GROUP_WORLD_SIZE", start.nodes);
  set("ROLE_RANK", start.rank);
  set("ROLE_WORLD_SIZE", start.size);
  set("TORCHELASTIC_RESTART_COUNT", start.generation - 1);
  set("TORCHELASTIC_MAX_RESTARTS", start.max_restarts);
  variables["ROLE_NAME"] = "default";
  variables["TORCHELASTIC_RUN_ID"] = start.trial_id;
  for (const char* name : {"MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_USE_AGENT_STORE"}) variables.erase(name);
  if (!start.master_addr.empty()) {
    variables["MASTER_ADDR"] = start.master_addr;
    set("MASTER_PORT", start.master_port);
    // Where a store is there already, rank 0 must not open one. At port 0 (a gang of one) rank 0 opens its own.
    if (start.master_port != 0) variables["TORCHELASTIC_USE_AGENT_STORE"] = "True";
  }
  variables.emplace("OMP_NUM_THREADS", std::to_string(start.threads));
}

void add_contract(Variables& variables, const ProgramStart& start) {
  const ProgramFiles files = program_files(start);
  variables["RT_TRIAL_ID"] = start.trial_id;
  variables["RT_REPORT"] = files.report.string();
  variables["RT_STOP_FILE"] = files.stop.string();
  variables["RT_PARAMETERS"] = files.parameters.string();
  variables["RT_CHECKPOINT_DIR"] = files.checkpoints.string();
  variables["RT_RESTORE"] = start.restore.string();
}

}  // namespace

ProgramFiles program_files(const ProgramStart& start) {
  const std::filesystem::path folder = start.directory / "program";
  const std::string stem = "gen-" + std::to_string(start.generation) + "-rank-" + std::to_string(start.rank);
  return {.report = folder / (stem + ".report.jsonl"),
          .stop = folder / (stem + ".stop"),
          .parameters = folder / "parameters.json",
          .checkpoints = start.directory / "checkpoints"};
}

std::vector<std::string> program_environment(const ProgramStart& start, const std::vector<std::string>& inherited) {
  Variables variables;
  add(variables, inherited);
  add(variables, start.environment);
  add_torchrun(variables, start);
  add_contract(variables, start);
  if (!start.python_path.empty()) {
    std::string& path = variables["PYTHONPATH"];
    path = start.python_path.string() + (path.empty() ? "" : ":" + path);
  }
  std::vector<std::string> assignments;
  for (const auto& [name, value] : variables) assignments.push_back(name + "=" + value);
  return assignments;
}

}  // namespace rt
