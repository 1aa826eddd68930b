// The command line of `rtctl tune`: what is refused and how, what is printed where.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "rt/tests/support/walk_sweep.h"

namespace rt::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kShort = R"(trainable: Walk
method: grid
metric: {name: score, goal: maximize}
parameters: {gain: {values: [1, 2]}}
stop: {iterations: 2}
)";

class Rtctl : public ::testing::Test {
 protected:
  std::string sweep(const std::string& program, const std::string& rest) const {
    return sandbox.write("sweep.yaml", "program: " + program + "\n" + rest).string();
  }
  std::string short_sweep(const std::string& more = "") const { return sweep(test_program("walk"), kShort + more); }
  Ended tune(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"tune", "--dir", directory.string()});
    return sandbox.run_rtctl(std::move(arguments));
  }
  // Refused: exit code 2, `why` on stderr, and no trace of it.
  void expect_refused(const Ended& ended, const std::string& why) const {
    EXPECT_EQ(ended.exit_code, 2) << ended.output << ended.errors;
    EXPECT_THAT(ended.errors, HasSubstr(why));
    EXPECT_FALSE(fs::exists(directory));
    EXPECT_EQ(sandbox.leftovers(), "");
  }

  Sandbox sandbox;
  const fs::path directory = sandbox / "sweep";
};

// Runs rtctl in a shell, with its output redirected as `redirection` says.
Ended run_redirected(const Sandbox& sandbox, const std::string& redirection, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"/bin/sh", "-c", "exec \"$0\" \"$@\" " + redirection, built_program("rtctl")});
  return sandbox.start(std::move(arguments)).wait();
}

TEST_F(Rtctl, RefusesAnUnknownKeyWithItsLineAndTheNearestRightOne) {
  const std::string file = sweep(test_program("walk"), std::string(kShort) + "max_falures: 1\n");
  expect_refused(tune({file}), file + ":7: unknown key 'max_falures' - did you mean 'max_failures'?");
}

TEST_F(Rtctl, RefusesAProgramThatIsNotThere) {
  expect_refused(tune({sweep("no-such-program", kShort)}), "the program 'no-such-program' was not found");
}

TEST_F(Rtctl, RefusesAProgramThatIsNotExecutable) {
  ::chmod(sandbox.write("walker", "").c_str(), 0644);
  expect_refused(tune({sweep("walker", kShort)}), "chmod +x");
}

TEST_F(Rtctl, RefusesGpusThatTheClusterLacks) {
  const Ended ended = tune({short_sweep("resources: {gpus_per_rank: 4}\n"), "--simulate-gpus", "3"});
  expect_refused(ended, "a trial asks for 4 GPU(s) (1 ranks x gpus_per_rank 4), this cluster has 3");
}

TEST_F(Rtctl, RefusesToGoOnWithWhatIsNoSweep) {
  expect_refused(sandbox.run_rtctl({"tune", "--resume", (sandbox / "nonsense").string()}), "there is no sweep in");
  fs::create_directories(sandbox / "damaged/tune");
  sandbox.write("damaged/tune/1-1.segment", "this is no journal");
  expect_refused(sandbox.run_rtctl({"tune", "--resume", (sandbox / "damaged").string()}),
                 (sandbox / "damaged").string());
}

TEST_F(Rtctl, RefusesAWrongCommandLine) {
  expect_refused(sandbox.run_rtctl({"tune"}), "give a sweep FILE, or --resume DIR");
  expect_refused(tune({short_sweep(), "--cpus", "0"}), "--cpus");
  expect_refused(sandbox.run_rtctl({"frobnicate"}), "subcommand");
}

TEST_F(Rtctl, AMissingTrainableIsNamedWithThoseThatThereAre) {
  std::string text = kShort;
  text.replace(text.find("Walk"), 4, "Wlak");
  const Ended ended = tune({sweep(test_program("walk"), text)});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.output, HasSubstr("this program has no trainable 'Wlak'; it has: Walk"));
  EXPECT_EQ(sandbox.leftovers(), "");
}

TEST_F(Rtctl, RunsOnGpusThatTheUserMadeUp) {
  const Ended ended =
      tune({short_sweep("resources: {ranks: 3, gpus_per_rank: 1}\n"), "--simulate-gpus", "3", "--cpus", "3"});
  EXPECT_EQ(ended.exit_code, 0) << ended.output << ended.errors;
  EXPECT_THAT(ended.output, HasSubstr("3 rank(s) a trial, 1 GPU(s) a rank of 3 GPUs"));
}

TEST_F(Rtctl, RunsOnAsManySlotsAsTheUserSays) {
  const Ended ended = tune({short_sweep("resources: {ranks: 2}\n"), "--cpus", "16"});
  EXPECT_EQ(ended.exit_code, 0) << ended.output << ended.errors;
  EXPECT_THAT(ended.output, HasSubstr("1 CPU slot(s) a rank of 16 (no GPU here)"));
}

TEST_F(Rtctl, PrintsPlainLinesIntoAPipeAndTheResultAtTheEnd) {
  const Ended ended = tune({short_sweep()});
  EXPECT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_THAT(ended.output,
              AllOf(HasSubstr("\ntrial 0002 started: gain=2\n"), HasSubstr("\ntrial 0002 iteration 2, score"),
                    HasSubstr("\nBest: trial 0002 with score"), HasSubstr("gain=2\n"),
                    HasSubstr("Its checkpoint (iteration 2, score 4.135): " +
                              (directory / "trials/0002/checkpoints/step-00000002").string()),
                    HasSubstr("Look again: rtctl tune show " + directory.string()), Not(HasSubstr("\033"))));
  EXPECT_EQ(ended.errors, "");
}

TEST_F(Rtctl, QuietPrintsTheResultOnly) {
  const Ended ended = tune({short_sweep(), "-q"});
  EXPECT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_EQ(ended.output.rfind("Best: trial 0002", 0), 0u) << ended.output;
}

TEST_F(Rtctl, DrawsALiveTableOverItselfInATerminal) {
  if (!fs::exists("/usr/bin/script")) GTEST_SKIP() << "it takes script(1) to give rtctl a terminal";
  const Ended ended =
      sandbox
          .start({built_program("rtctl"), "tune", short_sweep(), "--dir", directory.string(), "--cpus", "1"}, {}, true)
          .wait();
  EXPECT_EQ(ended.exit_code, 0) << ended.output << ended.errors;
  EXPECT_THAT(ended.output,
              AllOf(HasSubstr("of 2 trials"), HasSubstr("\033[J"), HasSubstr("trial"), HasSubstr("Best: trial 0002")));
  EXPECT_THAT(ended.output, Not(HasSubstr("trial 0002 started")));
}

TEST_F(Rtctl, ShowsASweepAgainAsTableJsonAndCsv) {
  ASSERT_EQ(tune({short_sweep(), "-q"}).exit_code, 0);
  EXPECT_THAT(sandbox.run_rtctl({"tune", "show", directory.string()}).output,
              AllOf(HasSubstr("0002 *"), HasSubstr("finished")));
  EXPECT_EQ(results_of(sandbox, directory)["best"], "0002");
  EXPECT_THAT(sandbox.run_rtctl({"tune", "show", directory.string(), "--csv"}).output, HasSubstr("parameters.gain"));
}

TEST_F(Rtctl, PrintsItsCommandsAsAShellTakesThem) {
  const std::string strange = (sandbox / "it's a sweep").string();
  const std::string word = sandbox.path().string() + "/it'\\''s a sweep'";
  const Ended ended = sandbox.run_rtctl({"tune", short_sweep(), "--dir", strange});
  EXPECT_THAT(ended.output, HasSubstr("Look again: rtctl tune show '" + word));
  EXPECT_THAT(sandbox.run_rtctl({"tune", short_sweep(), "--dir", strange}).errors,
              HasSubstr("rtctl tune --resume '" + word + ", or"));
}

TEST_F(Rtctl, AResumeSaysThatTheSweepFileHasChangedAndKeepsTheRecordedOne) {
  ASSERT_EQ(tune({short_sweep(), "-q"}).exit_code, 0);
  const auto before = results_of(sandbox, directory);
  const auto resume = [&] { return sandbox.run_rtctl({"tune", "--resume", directory.string()}); };
  EXPECT_EQ(resume().errors, "");
  const std::string file = short_sweep("max_failures: 1\n");
  EXPECT_THAT(resume().errors, HasSubstr(file + " has changed since this sweep began; it goes on as recorded"));
  EXPECT_EQ(results_of(sandbox, directory), before);
  fs::remove(file);
  EXPECT_EQ(resume().errors, "") << "a file that is gone is not missed";
}

TEST_F(Rtctl, ASweepThatHasEndedIsLeftAtThat) {
  ASSERT_EQ(tune({short_sweep(), "-q"}).exit_code, 0);
  const auto before = results_of(sandbox, directory);
  const Ended again = sandbox.run_rtctl({"tune", "--resume", directory.string()});
  EXPECT_EQ(again.exit_code, 0) << again.errors;
  EXPECT_THAT(again.output, HasSubstr("The sweep has ended already."));
  EXPECT_EQ(results_of(sandbox, directory), before);
  const Ended anew = tune({short_sweep()});
  EXPECT_EQ(anew.exit_code, 2);
  EXPECT_THAT(anew.errors, HasSubstr("holds a sweep already"));
}

// As a service manager or `nohup rtctl ... >&-` may start it: its journal gets none of the three numbers.
TEST_F(Rtctl, RunsWithItsStandardStreamsClosed) {
  for (const std::string closed : {">&-", "<&- >&- 2>&-"}) {
    const Ended ended = run_redirected(sandbox, closed, {"tune", short_sweep(), "--dir", directory.string()});
    EXPECT_EQ(ended.exit_code, 0) << closed << ended.errors;
    EXPECT_EQ(results_of(sandbox, directory)["state"], "finished") << closed;
    EXPECT_EQ(sandbox.leftovers(), "");
    fs::remove_all(directory);
  }
}

TEST_F(Rtctl, ASweepWhoseOutputCannotBeWrittenIsNoWorseForIt) {
  const Ended ended =
      run_redirected(sandbox, ">/dev/full 2>&1", {"tune", short_sweep(), "--dir", directory.string(), "-v"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(results_of(sandbox, directory)["state"], "finished");
}

TEST_F(Rtctl, ResultsThatCannotBeWrittenEndWithAnError) {
  ASSERT_EQ(tune({short_sweep(), "-q"}).exit_code, 0);
  const std::vector<std::vector<std::string>> commands{{"tune", "show", directory.string()},
                                                       {"tune", "show", directory.string(), "--json"},
                                                       {"tune", "show", directory.string(), "--csv"},
                                                       {"bench", "tune", "--quick", "--only", "tune.noop_trials"},
                                                       {"--help"}};
  for (const auto& command : commands)
    for (const std::string where : {">/dev/full", ">&-"}) {
      const Ended ended = run_redirected(sandbox, where, command);
      EXPECT_EQ(ended.exit_code, 1) << where << command.back();
      EXPECT_THAT(ended.errors, HasSubstr("cannot write all of the output to stdout: ")) << where << command.back();
    }
}

// A folder that can't be looked at, here a link to itself, and a name that is too long.
TEST_F(Rtctl, RefusesAFolderThatCannotBeLookedAt) {
  fs::create_symlink(sandbox / "loop", sandbox / "loop");
  for (const std::string& folder : {(sandbox / "loop").string(), (sandbox / std::string(300, 'x')).string()}) {
    expect_refused(sandbox.run_rtctl({"tune", "show", folder}), folder);
    expect_refused(sandbox.run_rtctl({"tune", "--resume", folder}), folder);
    expect_refused(sandbox.run_rtctl({"tune", short_sweep(), "--dir", folder}), folder);
  }
}

TEST_F(Rtctl, SaysThatItsWorkingFolderIsGone) {
  const fs::path gone = sandbox / "gone";
  const auto run_in_it = [&](std::vector<std::string> arguments) {
    fs::create_directory(gone);
    const std::string script = "cd \"$0\" && rmdir \"$0\" && exec \"$@\"";
    arguments.insert(arguments.begin(), {"/bin/sh", "-c", script, gone.string(), built_program("rtctl")});
    return sandbox.start(std::move(arguments)).wait();
  };
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           {"tune", short_sweep()}, {"tune", short_sweep(), "--dir", "new"}, {"tune", "--resume", "old"}})
    expect_refused(run_in_it(arguments), "the working folder can't be told");
  const Ended trials_have_none = run_in_it({"tune", short_sweep(), "--dir", directory.string()});
  EXPECT_EQ(trials_have_none.exit_code, 1);
  EXPECT_THAT(trials_have_none.errors, HasSubstr("cannot tell the working folder, in which the trials are to run"));
}

TEST_F(Rtctl, BenchSaysThatThereIsNoTemporaryFolder) {
  const Ended ended = sandbox.run_rtctl({"bench", "tune", "--quick", "--only", "tune.noop_trials"}, {"TMPDIR=/none"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.errors, HasSubstr("TMPDIR"));
}

// The message has nowhere to go; the exit code tells.
TEST_F(Rtctl, AMistakeThatCannotBeToldStillHasItsExitCode) {
  EXPECT_EQ(run_redirected(sandbox, "2>/dev/full", {"tune", "show", "no-such-folder"}).exit_code, 2);
  EXPECT_EQ(run_redirected(sandbox, "2>/dev/full", {"tune", sweep("walk", "x: 1\n")}).exit_code, 2);
}

TEST_F(Rtctl, HelpsWithEverySubcommand) {
  const std::vector<std::vector<std::string>> commands{{}, {"tune"}, {"tune", "show"}, {"bench"}, {"bench", "tune"}};
  for (std::vector<std::string> command : commands) {
    command.push_back("--help");
    const Ended ended = sandbox.run_rtctl(command);
    EXPECT_EQ(ended.exit_code, 0);
    EXPECT_THAT(ended.output, HasSubstr("Usage: rtctl"));
  }
}

}  // namespace
}  // namespace rt::testing
