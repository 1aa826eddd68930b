// Trials that are programs in any language, run by rtctl: what becomes of them, and of what they start, when something
// is killed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <sstream>

#include "rt/runtime/base/files.h"
#include "rt/tests/support/sandbox.h"
#include "rt/tests/support/small_disk.h"

namespace rt::testing {
namespace {

using ::testing::HasSubstr;

class ProgramTrials : public ::testing::Test {
 protected:
  // A sweep over tests/programs/trial.py; `parameters`: lines of YAML beside gain and steps; `more`: further keys.
  Command start(const std::string& parameters, const std::string& more = "", const std::string& gain = "[1]",
                std::vector<std::string> arguments = {}) const {
    const fs::path file = sandbox.write("sweep.yaml", std::string("program: ") + RT_TEST_PROGRAMS + "/trial.py\n" + R"(
method: grid
metric: {name: score, goal: maximize}
parameters:
  gain: {values: )" + gain + "}\n" + parameters + "\n" + more);
    arguments.insert(arguments.begin(), {"tune", file.string(), "--dir", directory.string(), "--cpus", cpus});
    return sandbox.rtctl(std::move(arguments));
  }
  // Interrupts it after its fourth report; its last words are then those of the file that it reports to.
  void stop_with_parting_reports(Command command) const {
    ASSERT_TRUE(command.says("iteration 4,"));
    command.send(SIGINT);
    const Ended stopped = command.wait();
    EXPECT_EQ(stopped.exit_code, 130) << stopped.output << stopped.errors;
    std::istringstream lines(rt::read_file(directory / "trials/0001/program/gen-1-rank-0.report.jsonl").get());
    nlohmann::json last;
    for (std::string line; std::getline(lines, line);) last = nlohmann::json::parse(line);
    EXPECT_EQ(trial()["iteration"], last["step"]);
    EXPECT_EQ(trial()["metric"], last["score"]);
    EXPECT_EQ(trial()["checkpoint"], "trials/0001/checkpoints/" + last.value("checkpoint", "none was named"));
  }
  nlohmann::json trial(std::size_t index = 0) const { return results_of(sandbox, directory).at("trials").at(index); }
  std::string log_of(const std::string& trial) const {
    return rt::read_file(directory / "trials" / trial / "rank-0.log").get();
  }

  Sandbox sandbox;
  const fs::path directory = sandbox / "sweep";
  std::string cpus = "1";
};

class ProgramFalls : public ProgramTrials, public ::testing::WithParamInterface<const char*> {};

TEST_P(ProgramFalls, AndGoesOnFromItsCheckpoint) {
  const Ended ended =
      start(std::string("  steps: {value: 8}\n  fall_step: {value: 6}\n  fall: {value: ") + GetParam() + "}",
            "max_failures: 1")
          .wait();
  EXPECT_EQ(ended.exit_code, 0) << ended.output << ended.errors;
  EXPECT_THAT(ended.output, HasSubstr("trial 0001 goes on from step 4 (generation 2)"));
  EXPECT_THAT(log_of("0001"), HasSubstr("restored 4"));
  EXPECT_EQ(trial()["iteration"], 8);
  EXPECT_EQ(trial()["failures"], 1);
  EXPECT_EQ(trial()["reason"], "program ended");
  EXPECT_EQ(sandbox.leftovers(), "");
}

INSTANTIATE_TEST_SUITE_P(By, ProgramFalls, ::testing::Values("exit", "kill", "worker"),
                         [](const auto& info) { return std::string(info.param); });

TEST_F(ProgramTrials, AFailureShowsItsCauseAndTheLastLinesAndIsTriedAgainAsOftenAsAllowed) {
  const Ended ended =
      start("  steps: {value: 8}\n  fall_step: {value: 1}\n  fall: {value: exit}\n  always: {value: true}",
            "max_failures: 2")
          .wait();
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.output, HasSubstr("exit code 7"));
  EXPECT_THAT(ended.output, HasSubstr("last words"));
  EXPECT_THAT(ended.output, HasSubstr("(generation 3)"));
  EXPECT_EQ(trial()["failures"], 3);
  EXPECT_EQ(trial()["state"], "failed");
  EXPECT_EQ(sandbox.leftovers(), "");
}

// rt.checkpoint() removes what it had half written, so that the disk has room again when the program has ended.
TEST_F(ProgramTrials, AFullDiskChargesNoTrialThoughTheProgramFailed) {
  const SmallDisk disk(directory, "size=1m");
  if (!disk.mounted()) GTEST_SKIP() << "mounting a small file system needs root";
  const Ended ended = start("  steps: {value: 3}\n  ballast_kib: {value: 2048}").wait();
  EXPECT_EQ(ended.exit_code, 1) << ended.output << ended.errors;
  EXPECT_THAT(ended.errors, HasSubstr("No space left on device"));
  EXPECT_EQ(trial()["failures"], 0);
  disk.make_room("size=64m");
  const Ended rest = sandbox.run_rtctl({"tune", "--resume", directory.string(), "--cpus", "1"});
  EXPECT_EQ(rest.exit_code, 0) << rest.output << rest.errors;
  EXPECT_EQ(trial()["reason"], "program ended");
}

TEST_F(ProgramTrials, WhatAProgramLeavesBehindIsGoneAfterTheEnd) {
  const Ended ended = start("  steps: {value: 3}\n  daemon: {value: true}").wait();
  EXPECT_EQ(ended.exit_code, 0) << ended.output << ended.errors;
  EXPECT_EQ(sandbox.leftovers(), "");
}

TEST_F(ProgramTrials, AllIsGoneTwoSecondsAfterTheDriverWasKilled) {
  Command command = start("  steps: {value: 3}\n  daemon: {value: true}\n  wait: {value: true}");
  ASSERT_TRUE(command.says("Results in"));
  ASSERT_TRUE(eventually([&] { return sandbox.processes_named("python3").size() >= 2; }));  // the program, its daemon
  command.send(SIGKILL);
  command.wait();
  EXPECT_TRUE(eventually([&] { return sandbox.processes().empty(); }, std::chrono::seconds(4))) << sandbox.leftovers();

  const Ended shown = sandbox.run_rtctl({"tune", "show", directory.string()});
  EXPECT_THAT(shown.output, HasSubstr("unfinished"));
}

TEST_F(ProgramTrials, TheNextStartEndsADaemonThatSurvivedAKillOfAllItsKeepers) {
  Command command =
      start("  steps: {value: 3}\n  daemon: {value: true}\n  wait: {value: true}", "stop: {iterations: 40}");
  ASSERT_TRUE(command.says("iteration 2,"));
  const std::vector<pid_t> programs = sandbox.processes_named("python3");
  for (const int signal : {SIGSTOP, SIGKILL})  // stopped first: none may see another's end and clean up
    for (const pid_t pid : sandbox.processes())
      if (std::find(programs.begin(), programs.end(), pid) == programs.end()) ::kill(pid, signal);
  command.wait();
  ASSERT_TRUE(eventually([&] { return sandbox.processes().size() == 1; })) << sandbox.leftovers();  // the daemon

  const Ended ended = sandbox.run_rtctl({"tune", "--resume", directory.string(), "--cpus", "1"});
  EXPECT_EQ(ended.exit_code, 0) << ended.output << ended.errors;
  EXPECT_EQ(trial()["iteration"], 40);
  EXPECT_EQ(sandbox.leftovers(), "");
}

TEST_F(ProgramTrials, AStoppedTrialIsAskedToSaveAndLeave) {
  const Ended ended = start("  steps: {value: 1}\n  wait: {value: true}",
                            "scheduler: {type: asha, min_iter: 2, max_iter: 18, eta: 3}", "[3, 2, 1]")
                          .wait();
  EXPECT_EQ(ended.exit_code, 0) << ended.output << ended.errors;
  EXPECT_EQ(trial(0)["reason"], "completed");
  EXPECT_EQ(trial(1)["reason"], "stopped by the scheduler");
  EXPECT_EQ(trial(2)["reason"], "stopped by the scheduler");
  for (const char* id : {"0001", "0002", "0003"}) EXPECT_THAT(log_of(id), HasSubstr("asked to stop at")) << id;
  EXPECT_EQ(sandbox.leftovers(), "");
}

TEST_F(ProgramTrials, OneThatWasInterruptedIsGivenItsCheckpointByTheResume) {
  Command command = start("  steps: {value: 4}\n  wait: {value: true}", "stop: {iterations: 60}");
  ASSERT_TRUE(command.says("iteration 4,"));
  command.send(SIGINT);
  const Ended stopped = command.wait();
  EXPECT_EQ(stopped.exit_code, 130) << stopped.output << stopped.errors;
  EXPECT_EQ(sandbox.leftovers(), "");

  const Ended ended = sandbox.run_rtctl({"tune", "--resume", directory.string(), "--cpus", "1"});
  EXPECT_EQ(ended.exit_code, 0) << ended.output << ended.errors;
  EXPECT_THAT(log_of("0001"), HasSubstr("restored "));
  EXPECT_EQ(trial()["iteration"], 60);
}

TEST_F(ProgramTrials, WhatOneReportsOnItsWayOutIsRecordedBeforeItsCheckpoint) {
  stop_with_parting_reports(start("  steps: {value: 4}\n  wait: {value: true}\n  parting: {value: 20}"));
}

TEST_F(ProgramTrials, ARankThatLeavesAtOnceDoesNotCutOffRankZero) {
  cpus = "2";
  stop_with_parting_reports(
      start("  steps: {value: 4}\n  wait: {value: true}\n  parting: {value: 20}\n  linger: {value: 0.3}",
            "resources: {ranks: 2}"));
}

}  // namespace
}  // namespace rt::testing
