// Ctrl-C, kills of rtctl, a full disk, several sweeps at once: what is left, what is said, and how it goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <regex>

#include "rt/tests/support/small_disk.h"
#include "rt/tests/support/walk_sweep.h"

namespace rt::testing {
namespace {

using ::testing::HasSubstr;

// A sweep that waits in trial 2 (its first generation, step 2) until the gate is open.
class Stop : public ::testing::Test {
 protected:
  // `script`: of a shell that is to start it, as "$@".
  Command start_to_the_gate(const fs::path& directory, const std::string& script = "", bool terminal = false) {
    std::vector<std::string> argv{built_program("rtctl"),
                                  "tune",
                                  sandbox.write("walk.yaml", walk_sweep()).string(),
                                  "--dir",
                                  directory.string(),
                                  "--cpus",
                                  "1"};
    if (!script.empty()) argv.insert(argv.begin(), {"/bin/sh", "-c", script, "sh"});
    Command command = sandbox.start(argv, {"WALK_GATE=0002/1/2", "WALK_GATE_FILE=" + gate.string()}, terminal);
    EXPECT_TRUE(eventually([&] {
      const auto here = rt::read_file(gate.string() + ".here");
      return here && !here->empty();
    })) << "trial 2 never came to its step 2";
    return command;
  }
  Command start_to_the_gate() { return start_to_the_gate(directory); }
  void open_gate() const { std::ofstream{gate}; }
  void expect_that_resume_finishes_as_undisturbed() {
    const Ended rest = resume(sandbox).wait();
    EXPECT_EQ(rest.exit_code, 0) << rest.output << rest.errors;
    EXPECT_EQ(difference(undisturbed(), outcome_of(sandbox, directory)), "");
    EXPECT_EQ(sandbox.leftovers(), "");
  }
  std::string how_to_go_on() const { return "rtctl tune --resume " + directory.string(); }

  Sandbox sandbox;
  const fs::path directory = sandbox / "sweep", gate = sandbox / "gate";
};

class StopBySignal : public Stop, public ::testing::WithParamInterface<int> {};

TEST_P(StopBySignal, OnceSavesEndsAndSaysHowToGoOn) {
  Command command = start_to_the_gate();
  command.send(GetParam());
  ASSERT_TRUE(command.says("sweep interrupted"));
  open_gate();
  const Ended ended = command.wait();
  EXPECT_EQ(ended.exit_code, 130) << ended.output << ended.errors;
  EXPECT_THAT(ended.output, HasSubstr(how_to_go_on()));
  EXPECT_EQ(results_of(sandbox, directory)["state"], "interrupted");
  EXPECT_TRUE(fs::exists(directory / "trials/0002/checkpoints/step-00000002"));
  EXPECT_EQ(sandbox.leftovers(), "");
  expect_that_resume_finishes_as_undisturbed();
}

TEST_P(StopBySignal, TwiceKillsWhatStillRuns) {
  Command command = start_to_the_gate();  // it would wait for ever: only a kill ends it
  command.send(GetParam());
  ASSERT_TRUE(command.says("again kills"));
  // One that comes close after the first is its echo; a person tries again.
  ASSERT_TRUE(eventually([&] {
    command.send(GetParam());
    return command.says("rtctl: killed.", std::chrono::milliseconds(0));
  }));
  const Ended ended = command.wait();
  EXPECT_EQ(ended.exit_code, 130) << ended.output << ended.errors;
  EXPECT_THAT(ended.errors, HasSubstr(how_to_go_on()));
  EXPECT_TRUE(eventually([&] { return sandbox.processes().empty(); }, std::chrono::seconds(4))) << sandbox.leftovers();
  expect_that_resume_finishes_as_undisturbed();
}

TEST_P(StopBySignal, TwiceAtOnceIsOnce) {
  Command command = start_to_the_gate();
  command.send(GetParam());
  command.send(GetParam());
  ASSERT_TRUE(command.says("sweep interrupted"));
  open_gate();
  EXPECT_EQ(command.wait().exit_code, 130);
  expect_that_resume_finishes_as_undisturbed();
}

// As scancel and systemd do; rtctl comes last, so that the others have had theirs when it begins to save.
TEST_P(StopBySignal, OfAllProcessesSavesAndChargesNoTrial) {
  Command command = start_to_the_gate();
  std::vector<pid_t> all = sandbox.processes();
  std::erase(all, command.pid());
  EXPECT_GE(all.size(), 4u);  // head, node, fork server, rank
  for (const pid_t pid : all) ::kill(pid, GetParam());
  command.send(GetParam());
  ASSERT_TRUE(command.says("sweep interrupted"));
  open_gate();
  const Ended ended = command.wait();
  EXPECT_EQ(ended.exit_code, 130) << ended.output << ended.errors;
  const auto results = results_of(sandbox, directory);
  EXPECT_EQ(results["state"], "interrupted");
  for (const auto& trial : results["trials"]) EXPECT_EQ(trial["failures"], 0) << trial;
  expect_that_resume_finishes_as_undisturbed();
}

INSTANTIATE_TEST_SUITE_P(By, StopBySignal, ::testing::Values(SIGINT, SIGTERM),
                         [](const auto& info) { return info.param == SIGINT ? "Interrupt" : "Terminate"; });

// As nohup leaves SIGHUP, and a shell's `&` SIGINT.
TEST_F(Stop, ASignalThatIsIgnoredFromTheStartStaysSo) {
  Command command = start_to_the_gate(directory, "trap '' HUP INT; exec \"$@\"");
  command.send(SIGHUP);
  command.send(SIGINT);
  open_gate();
  const Ended ended = command.wait();
  EXPECT_EQ(ended.exit_code, 0) << ended.output << ended.errors;
  EXPECT_EQ(difference(undisturbed(), outcome_of(sandbox, directory)), "");
}

TEST_F(Stop, AWarningSignalNeitherEndsItNorMakesItDeafToTheNext) {
  Command command = start_to_the_gate();
  for (const int warning : {SIGUSR1, SIGUSR2}) command.send(warning);
  command.send(SIGTERM);
  ASSERT_TRUE(command.says("sweep interrupted"));
  open_gate();
  EXPECT_EQ(command.wait().exit_code, 130);
  expect_that_resume_finishes_as_undisturbed();
}

TEST_F(Stop, AClosedTerminalStopsItAsCtrlCDoes) {
  if (!fs::exists("/usr/bin/script")) GTEST_SKIP() << "it takes script(1) to give rtctl a terminal";
  { Command terminal = start_to_the_gate(directory, "", /*terminal=*/true); }
  open_gate();
  EXPECT_TRUE(eventually([&] { return sandbox.processes().empty(); })) << sandbox.leftovers();
  EXPECT_EQ(results_of(sandbox, directory)["state"], "interrupted");
  EXPECT_TRUE(fs::exists(directory / "trials/0002/checkpoints/step-00000002"));
  expect_that_resume_finishes_as_undisturbed();
}

TEST_F(Stop, ShowTellsASweepThatRunsFromOneThatWasKilled) {
  Command command = start_to_the_gate();
  const auto state_of_second = [&](const nlohmann::json& results) { return results["trials"][1]["state"]; };
  auto results = results_of(sandbox, directory);
  EXPECT_EQ(results["state"], "running");
  EXPECT_EQ(state_of_second(results), "running");
  command.send(SIGTERM);
  ASSERT_TRUE(command.says("sweep interrupted"));
  EXPECT_EQ(results_of(sandbox, directory)["state"], "running") << "it is being stopped: its tuner is still there";
  command.send(SIGKILL);
  command.wait();
  results = results_of(sandbox, directory);
  EXPECT_EQ(results["state"], "interrupted");
  EXPECT_EQ(state_of_second(results), "unfinished");
}

TEST_F(Stop, AKilledRtctlTakesItsProcessesWithItAndTheNextStartSweepsItsRunFolder) {
  Command command = start_to_the_gate();
  EXPECT_GE(sandbox.processes().size(), 5u);  // rtctl, head, node, fork server, rank
  command.send(SIGKILL);
  command.wait();
  EXPECT_TRUE(eventually([&] { return sandbox.processes().empty(); }, std::chrono::seconds(4))) << sandbox.leftovers();
  EXPECT_THAT(sandbox.leftovers(), HasSubstr("run folder"));
  expect_that_resume_finishes_as_undisturbed();
}

TEST_F(Stop, AKilledForkServerIsReplacedAndNoTrialIsCharged) {
  const Outcome expected = undisturbed();
  Command command = start_to_the_gate();
  const pid_t rank = std::stoi(rt::read_file(gate.string() + ".here").get());
  for (const pid_t pid : sandbox.processes_named("walk"))
    if (pid != rank) ::kill(pid, SIGKILL);
  const Ended ended = command.wait();
  EXPECT_EQ(ended.exit_code, 0) << ended.output << ended.errors;
  EXPECT_THAT(ended.output, HasSubstr("trial 0002 lost its processes"));
  EXPECT_EQ(results_of(sandbox, directory)["trials"][1]["failures"], 0);  // its second generation doesn't fall
  EXPECT_EQ(difference(expected, outcome_of(sandbox, directory)), "");
  EXPECT_EQ(sandbox.leftovers(), "");
}

TEST_F(Stop, TwoSweepsAtOnceDoNotSeeEachOther) {
  Command first = start_to_the_gate();
  const Ended second = sandbox.run_rtctl({"tune", sandbox.write("other.yaml", walk_sweep()).string(), "--dir",
                                          (sandbox / "other").string(), "--cpus", "1"});
  EXPECT_EQ(second.exit_code, 0) << second.output << second.errors;
  open_gate();
  EXPECT_EQ(first.wait().exit_code, 0);
  EXPECT_EQ(difference(outcome_of(sandbox, sandbox / "other"), outcome_of(sandbox, directory)), "");
  EXPECT_EQ(sandbox.leftovers(), "");
}

TEST_F(Stop, ASecondTunerOnOneFolderIsRefusedAndNamesTheFirst) {
  Command first = start_to_the_gate();
  for (const Ended& refused : {resume(sandbox).wait(), start_walk(sandbox).wait()}) {
    EXPECT_GT(refused.exit_code, 0);
    EXPECT_THAT(refused.errors, HasSubstr(std::to_string(first.pid())));
  }
  open_gate();
  EXPECT_EQ(first.wait().exit_code, 0);
  EXPECT_EQ(difference(undisturbed(), outcome_of(sandbox, directory)), "");
}

// Cut short, flipped in one bit, gone: the trial runs again from what is left, and nobody is charged.
class StopAndDamage : public Stop, public ::testing::WithParamInterface<const char*> {
 protected:
  static void damage(const fs::path& checkpoint) {
    const std::string kind = GetParam();
    if (kind == "Gone") {
      fs::remove_all(checkpoint);
      return;
    }
    fs::path file;
    for (const auto& entry : fs::directory_iterator(checkpoint)) file = entry.path();
    std::string bytes = rt::read_file(file).get();
    if (kind == "Short")
      bytes.pop_back();
    else
      bytes.back() = static_cast<char>(bytes.back() ^ 1);
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
  }
};

TEST_P(StopAndDamage, OfTheNewestCheckpointCostsOnlyTheStepsSinceAnOlderOne) {
  Command command = start_to_the_gate();
  command.send(SIGINT);
  ASSERT_TRUE(command.says("sweep interrupted"));
  open_gate();
  EXPECT_EQ(command.wait().exit_code, 130);
  damage(directory / "trials/0002/checkpoints/step-00000002");

  const Ended rest = resume(sandbox).wait();
  EXPECT_EQ(rest.exit_code, 0) << rest.output << rest.errors;
  EXPECT_THAT(rest.output, HasSubstr("trial 0002 can't go on from its checkpoint step-00000002: the checkpoint's f"));
  EXPECT_EQ(difference(undisturbed(), outcome_of(sandbox, directory)), "");
  EXPECT_EQ(results_of(sandbox, directory)["trials"][1]["failures"], 0);
  EXPECT_EQ(sandbox.leftovers(), "");
}

INSTANTIATE_TEST_SUITE_P(By, StopAndDamage, ::testing::Values("Short", "Flipped", "Gone"),
                         [](const auto& info) { return std::string(info.param); });

TEST_F(Stop, AFullDiskEndsTheSweepAndTheResumeLosesNothing) {
  const SmallDisk disk(directory, "size=1m");
  if (!disk.mounted()) GTEST_SKIP() << "mounting a small file system needs root";
  Command command = start_to_the_gate();
  disk.fill();
  open_gate();
  const Ended ended = command.wait();
  EXPECT_EQ(ended.exit_code, 1) << ended.output << ended.errors;
  EXPECT_THAT(ended.errors, HasSubstr("No space left on device"));
  EXPECT_THAT(ended.errors, HasSubstr(how_to_go_on()));
  EXPECT_EQ(sandbox.leftovers(), "");
  disk.make_room();
  expect_that_resume_finishes_as_undisturbed();
}

struct Lack {
  const char* name;
  const char* small;  // mount's options, then those of the disk that has room
  const char* roomy;
};

class StopByALackOf : public Stop, public ::testing::WithParamInterface<Lack> {};

// What was half written is removed at once: when the failure is told, the disk has room again.
TEST_P(StopByALackOf, ChargesNoTrialThoughItsCheckpointDidNotFit) {
  SmallDisk disk(directory, GetParam().small);
  if (!disk.mounted()) GTEST_SKIP() << "mounting a small file system needs root";
  const std::string sweep =
      std::regex_replace(walk_sweep(), std::regex("max_failures: 2"), "max_failures: 0") + "run_cap: 1\n";
  const fs::path file = sandbox.write(
      "walk.yaml", std::regex_replace(sweep, std::regex("linger_ms: "), "ballast_kib: {value: 2048}\n  linger_ms: "));
  const Ended ended = sandbox.run_rtctl({"tune", file.string(), "--dir", directory.string(), "--cpus", "1"});
  EXPECT_EQ(ended.exit_code, 1) << ended.output << ended.errors;
  EXPECT_THAT(ended.errors, HasSubstr("No space left on device"));
  EXPECT_THAT(ended.errors, HasSubstr(how_to_go_on()));
  EXPECT_EQ(results_of(sandbox, directory)["trials"][0]["failures"], 0);
  disk.make_room(GetParam().roomy);
  const Ended rest = resume(sandbox).wait();
  EXPECT_EQ(rest.exit_code, 0) << rest.output << rest.errors;
  EXPECT_EQ(results_of(sandbox, directory)["trials"][0]["reason"], "completed");
}

INSTANTIATE_TEST_SUITE_P(Each, StopByALackOf,
                         ::testing::Values(Lack{"Bytes", "size=1m", "size=64m"},
                                           Lack{"Inodes", "size=64m,nr_inodes=13", "nr_inodes=1000"}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_F(Stop, AFolderThatCannotBeWrittenIsRefusedBeforeAnythingStarts) {
  sandbox.write("file", "");
  const Ended ended = sandbox.run_rtctl(
      {"tune", sandbox.write("walk.yaml", walk_sweep()).string(), "--dir", (sandbox / "file/sweep").string()});
  EXPECT_EQ(ended.exit_code, 2) << ended.output << ended.errors;
  EXPECT_THAT(ended.errors, HasSubstr((sandbox / "file/sweep").string()));
  EXPECT_EQ(sandbox.leftovers(), "");
}

}  // namespace
}  // namespace rt::testing
