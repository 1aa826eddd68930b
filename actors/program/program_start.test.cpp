#include "rt/actors/program/program_start.h"

#include <gtest/gtest.h>

#include <map>

namespace rt {
namespace {

using Variables = std::map<std::string, std::string>;

Variables environment(const ProgramStart& start, const std::vector<std::string>& inherited = {}) {
  Variables variables;
  for (const std::string& assignment : program_environment(start, inherited)) {
    const auto equals = assignment.find('=');
    EXPECT_TRUE(variables.emplace(assignment.substr(0, equals), assignment.substr(equals + 1)).second) << assignment;
  }
  return variables;
}

ProgramStart second_of_four() {
  return {.directory = "/runs/a/0007",
          .trial_id = "0007",
          .generation = 3,
          .max_restarts = 5,
          .rank = 1,
          .size = 4,
          .threads = 2,
          .master_addr = "10.0.0.1",
          .master_port = 29400};
}

// The names and their meaning are torchrun's (PyTorch 2.x, "Environment Variables" of torch.distributed.run).
TEST(ProgramEnvironment, IsTorchrunsForAGangOnOneNode) {
  EXPECT_EQ(environment(second_of_four()), (Variables{{"RANK", "1"},
                                                      {"LOCAL_RANK", "1"},
                                                      {"WORLD_SIZE", "4"},
                                                      {"LOCAL_WORLD_SIZE", "4"},
                                                      {"GROUP_RANK", "0"},
                                                      {"GROUP_WORLD_SIZE", "1"},
                                                      {"ROLE_RANK", "1"},
                                                      {"ROLE_WORLD_SIZE", "4"},
                                                      {"ROLE_NAME", "default"},
                                                      {"MASTER_ADDR", "10.0.0.1"},
                                                      {"MASTER_PORT", "29400"},
                                                      {"TORCHELASTIC_USE_AGENT_STORE", "True"},
                                                      {"TORCHELASTIC_RUN_ID", "0007"},
                                                      {"TORCHELASTIC_RESTART_COUNT", "2"},
                                                      {"TORCHELASTIC_MAX_RESTARTS", "5"},
                                                      {"OMP_NUM_THREADS", "2"},
                                                      {"RT_TRIAL_ID", "0007"},
                                                      {"RT_REPORT", "/runs/a/0007/program/gen-3-rank-1.report.jsonl"},
                                                      {"RT_STOP_FILE", "/runs/a/0007/program/gen-3-rank-1.stop"},
                                                      {"RT_PARAMETERS", "/runs/a/0007/program/parameters.json"},
                                                      {"RT_CHECKPOINT_DIR", "/runs/a/0007/checkpoints"},
                                                      {"RT_RESTORE", ""}}));
}

TEST(ProgramEnvironment, TellsNodesApart) {
  ProgramStart start = second_of_four();
  start.rank = 3;
  start.local_rank = 0;
  start.local_size = 1;
  start.node = 1;
  start.nodes = 2;
  const Variables seen = environment(start);
  EXPECT_EQ(seen.at("LOCAL_RANK"), "0");
  EXPECT_EQ(seen.at("LOCAL_WORLD_SIZE"), "1");
  EXPECT_EQ(seen.at("GROUP_RANK"), "1");
  EXPECT_EQ(seen.at("GROUP_WORLD_SIZE"), "2");
  EXPECT_EQ(seen.at("RANK"), "3");
}

TEST(ProgramEnvironment, NamesNoStoreWhereTheGangHasNone) {
  const Variables seen = environment({.trial_id = "1"}, {"MASTER_ADDR=elsewhere", "MASTER_PORT=1"});
  EXPECT_FALSE(seen.contains("MASTER_ADDR"));
  EXPECT_FALSE(seen.contains("MASTER_PORT"));
  EXPECT_FALSE(seen.contains("TORCHELASTIC_USE_AGENT_STORE"));
}

TEST(ProgramEnvironment, AddsToWhatIsInherited) {
  const Variables seen = environment({.environment = {"MODE=fast", "OMP_NUM_THREADS=7", "RT_TRIAL_ID=forged"},
                                      .trial_id = "0001",
                                      .restore = "/c/step-4"},
                                     {"HOME=/home/ada", "MODE=slow", "EQUATION=a=b"});
  EXPECT_EQ(seen.at("HOME"), "/home/ada");
  EXPECT_EQ(seen.at("MODE"), "fast");
  EXPECT_EQ(seen.at("EQUATION"), "a=b");
  EXPECT_EQ(seen.at("OMP_NUM_THREADS"), "7");
  EXPECT_EQ(seen.at("RT_TRIAL_ID"), "0001");
  EXPECT_EQ(seen.at("RT_RESTORE"), "/c/step-4");
}

TEST(ProgramEnvironment, PutsRtPyFirstInPythonsPath) {
  EXPECT_EQ(environment({.python_path = "/rt/python"}).at("PYTHONPATH"), "/rt/python");
  EXPECT_EQ(environment({.python_path = "/rt/python"}, {"PYTHONPATH=/mine"}).at("PYTHONPATH"), "/rt/python:/mine");
  EXPECT_EQ(environment({}, {"PYTHONPATH=/mine"}).at("PYTHONPATH"), "/mine");
}

}  // namespace
}  // namespace rt
