#include "rt/actors/program/program_rank.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <cerrno>
#include <thread>

#include "rt/actors/testing/temp_folder.h"

namespace rt {
namespace {

using namespace std::chrono_literals;
using testing::read_file;

constexpr StopDeadlines kPatient{.save = 600s,
                                 .terminate = 600s};  // a test that needs one of these hangs, and so fails
constexpr StopDeadlines kAtOnce{.save = 0s, .terminate = 0s};

// Every test runs shell scripts; `report JSON` and `pipe NAME` are at hand in them.
class ProgramRankTest : public ::testing::Test {
 protected:
  ProgramStart program(const std::string& script) const {
    const std::string prelude = "report() { echo \"$1\" >> \"$RT_REPORT\"; }\n";
    return {.argv = {"sh", "-c", prelude + script},
            .environment = {"FOLDER=" + folder.path().string()},
            .directory = folder.path(),
            .log = folder / "logs/rank-0.log",
            .trial_id = "0007"};
  }

  void start(const std::string& script) { start(program(script)); }
  void start(ProgramStart what) {
    const Status started = rank.start(std::move(what));
    ASSERT_TRUE(started) << started.error().message;
  }

  ProgramReport next() {
    auto report = rank.next_report();
    EXPECT_TRUE(report) << report.error().message;
    return report ? *std::move(report) : ProgramReport{};
  }

  std::filesystem::path fifo(const std::string& name) const {
    EXPECT_EQ(::mkfifo((folder / name).c_str(), 0600), 0);
    return folder / name;
  }

  pid_t pid_in(const std::string& name) const { return std::stoi(read_file(folder / name)); }

  std::string log() const { return read_file(folder / "logs/rank-0.log"); }

  testing::TempFolder folder;
  ProgramRank rank;
};

bool is_gone(pid_t pid) { return ::kill(pid, 0) != 0 && errno == ESRCH; }

TEST_F(ProgramRankTest, HandsOnEachReportAndThenTheEnd) {
  start("report '{\"step\": 1, \"loss\": 0.5}'; report '{\"step\": 2, \"loss\": 0.25}'");
  EXPECT_EQ(next().metrics, (Metrics{{"loss", 0.5}}));
  const ProgramReport second = next();
  EXPECT_EQ(second.step, 2);
  EXPECT_FALSE(second.finished);
  const ProgramReport end = next();
  EXPECT_TRUE(end.finished);
  EXPECT_EQ(end.step, 2);
  EXPECT_TRUE(next().finished);
}

TEST_F(ProgramRankTest, HandsOnAReportWhileTheProgramGoesOn) {
  const auto go = fifo("go");
  start("report '{\"step\": 1}'; read line < $FOLDER/go; report '{\"step\": 2}'");
  EXPECT_EQ(next().step, 1);
  std::ofstream(go) << "go\n";
  EXPECT_EQ(next().step, 2);
}

TEST_F(ProgramRankTest, WaitsForTheRestOfAHalfWrittenLine) {
  const auto go = fifo("go");
  start("printf '{\"step\": 1, ' >> $RT_REPORT; read line < $FOLDER/go; report '\"loss\": 2}'");
  std::thread helper([&] { std::ofstream(go) << "go\n"; });  // opens once the first half is written
  EXPECT_EQ(next().metrics, (Metrics{{"loss", 2.0}}));
  helper.join();
}

TEST_F(ProgramRankTest, ReadsManyReportsInOrder) {
  start("i=0; while [ $i -lt 5000 ]; do i=$((i+1)); echo \"{\\\"step\\\": $i, \\\"x\\\": $i}\"; done >> $RT_REPORT");
  for (std::uint64_t step = 1; step <= 5000; ++step) ASSERT_EQ(next().step, step);
  EXPECT_TRUE(next().finished);
}

TEST_F(ProgramRankTest, GivesTheProgramItsFilesAndParameters) {
  ProgramStart start =
      program("cat $RT_PARAMETERS; echo; test -d $RT_CHECKPOINT_DIR; echo $?; test -e $RT_STOP_FILE; echo $?");
  start.parameters = "{\"lr\": 0.1}";
  this->start(start);
  EXPECT_TRUE(next().finished);
  EXPECT_EQ(log(), "{\"lr\": 0.1}\n0\n1\n");
}

TEST_F(ProgramRankTest, IgnoresOldStepsOfAProgramThatGoesOn) {
  ProgramStart start =
      program("report '{\"step\": 3}'; report '{\"step\": 4}'; report '{\"step\": 5}'; echo $RT_RESTORE");
  start.restore = folder / "checkpoints/step-4";
  start.step = 4;
  this->start(start);
  EXPECT_EQ(next().step, 5);
  EXPECT_TRUE(next().finished);
  EXPECT_EQ(log(), (folder / "checkpoints/step-4").string() + "\n");
}

TEST_F(ProgramRankTest, TellsWhichCheckpointCameWithAReport) {
  start("mkdir $RT_CHECKPOINT_DIR/step-1; report '{\"step\": 1, \"checkpoint\": \"step-1\"}'; report '{\"step\": 2}'");
  EXPECT_EQ(next().checkpoint, folder / "checkpoints/step-1");
  EXPECT_EQ(next().checkpoint, "");
}

TEST_F(ProgramRankTest, TakesACheckpointWhateverSlashesStandAroundItsName) {
  start(
      "mkdir $RT_CHECKPOINT_DIR/ab; for name in ab/ ./ab $RT_CHECKPOINT_DIR/ab; do i=$((i+1)); "
      "report \"{\\\"step\\\": $i, \\\"checkpoint\\\": \\\"$name\\\"}\"; done");
  for (int step = 1; step <= 3; ++step) EXPECT_EQ(next().checkpoint, folder / "checkpoints/ab");
}

TEST_F(ProgramRankTest, TakesNoCheckpointThatIsNoFolderInItsFolder) {
  start(
      "mkdir -p $FOLDER/outside $RT_CHECKPOINT_DIR/a/b; ln -s a $RT_CHECKPOINT_DIR/link; "
      "for name in ../outside none / . /tmp a/b link; do i=$((i+1)); "
      "report \"{\\\"step\\\": $i, \\\"checkpoint\\\": \\\"$name\\\"}\"; done");
  for (std::uint64_t step = 1; step <= 7; ++step) {
    const ProgramReport report = next();
    EXPECT_EQ(report.step, step);
    EXPECT_EQ(report.checkpoint, "");
  }
  EXPECT_NE(log().find("step 1 names the checkpoint '../outside'"), std::string::npos) << log();
  EXPECT_NE(log().find("step 6 names the checkpoint 'a/b'"), std::string::npos) << log();
}

TEST_F(ProgramRankTest, SaysInTheLogWhichLineItIgnored) {
  start("report 'epoch 1'; report '{\"step\": 1}'");
  EXPECT_EQ(next().step, 1);
  EXPECT_NE(log().find("is not JSON"), std::string::npos);
  EXPECT_NE(log().find(": epoch 1\n"), std::string::npos) << log();
}

TEST_F(ProgramRankTest, FailsWithTheExitCodeAndTheLastLinesOfTheLog) {
  start("report '{\"step\": 1}'; echo it broke >&2; exit 3");
  EXPECT_EQ(next().step, 1);
  const auto failed = rank.next_report();
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Code::Failed);
  EXPECT_EQ(failed.error().message,
            "'sh' (trial 0007, rank 0, generation 1) ended with exit code 3; the last lines of " +
                (folder / "logs/rank-0.log").string() + ":\nit broke\n");
}

TEST_F(ProgramRankTest, SaysNoSpaceWhereItsOwnLastWordsDo) {
  start("echo 'OSError: [Errno 28] No space left on device' >&2; exit 1");
  EXPECT_EQ(rank.next_report().error().code, Code::NoSpace);
  ProgramRank next;
  ASSERT_TRUE(next.start(program("exit 1")));
  EXPECT_EQ(next.next_report().error().code, Code::Failed) << "what the generation before it printed";
}

TEST_F(ProgramRankTest, FailsWithTheSignal) {
  start("kill -SEGV $$");
  const auto failed = rank.next_report();
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().message.find("ended with signal 11 (Segmentation fault)"), std::string::npos);
}

TEST_F(ProgramRankTest, ReadsALastLineThatHasNoNewline) {
  start("printf '{\"step\": 1}' >> $RT_REPORT");
  EXPECT_EQ(next().step, 1);
  EXPECT_TRUE(next().finished);
}

TEST_F(ProgramRankTest, CountsOnlyRankZeroAndKeepsWhatOthersWrite) {
  ProgramStart start = program("report '{\"step\": 1}'");
  start.rank = 1;
  start.size = 2;
  this->start(start);
  EXPECT_TRUE(next().finished);
  EXPECT_EQ(read_file(program_files(start).report), "{\"step\": 1}\n");
}

TEST_F(ProgramRankTest, StopsAProgramThatSavesAndLeaves) {
  start(
      "mkdir $RT_CHECKPOINT_DIR/last; report '{\"step\": 1}'; while [ ! -e $RT_STOP_FILE ]; do sleep 0.01; done;"
      "report '{\"step\": 2, \"checkpoint\": \"last\"}'");
  EXPECT_EQ(next().step, 1);
  const auto stopped = rank.stop(kPatient);
  ASSERT_TRUE(stopped) << stopped.error().message;
  const ProgramReport last = next();
  EXPECT_EQ(last.step, 2);
  EXPECT_EQ(last.checkpoint, folder / "checkpoints/last");
  EXPECT_EQ(rank.next_report().error().code, Code::Unavailable);
}

TEST_F(ProgramRankTest, TerminatesAProgramThatDoesNotLook) {
  start("trap 'report \"{\\\"step\\\": 2}\"; exit 0' TERM; report '{\"step\": 1}'; while :; do sleep 0.01; done");
  EXPECT_EQ(next().step, 1);
  ASSERT_TRUE(rank.stop({.save = 0s, .terminate = 600s}));
  EXPECT_EQ(next().step, 2);
}

TEST_F(ProgramRankTest, KillsAProgramThatIgnoresTermination) {
  start("trap '' TERM; echo $$ > $FOLDER/pid; report '{\"step\": 1}'; while :; do sleep 1000; done");
  EXPECT_EQ(next().step, 1);
  ASSERT_TRUE(rank.stop(kAtOnce));
  EXPECT_EQ(rank.next_report().error().code, Code::Unavailable);
  EXPECT_TRUE(is_gone(pid_in("pid")));
}

TEST_F(ProgramRankTest, StopLosesNoReportThatNobodyAskedForYet) {
  start(
      "mkdir $RT_CHECKPOINT_DIR/a; report '{\"step\": 1}'; report '{\"step\": 2, \"checkpoint\": \"a\"}';"
      "echo > $FOLDER/all; while [ ! -e $RT_STOP_FILE ]; do sleep 0.01; done");
  while (!std::filesystem::exists(folder / "all")) std::this_thread::yield();
  ASSERT_TRUE(rank.stop(kPatient));
  EXPECT_EQ(next().step, 1);
  const ProgramReport second = next();
  EXPECT_EQ(second.step, 2);
  EXPECT_EQ(second.checkpoint, folder / "checkpoints/a");
}

TEST_F(ProgramRankTest, StopEndsANextReportThatWaitsOnAnotherThread) {
  start("echo $$ > $FOLDER/pid; report '{\"step\": 1}'; while :; do sleep 1000; done");
  EXPECT_EQ(next().step, 1);
  std::thread stopper([&] { EXPECT_TRUE(rank.stop(kAtOnce)); });
  EXPECT_EQ(rank.next_report().error().code, Code::Unavailable);
  stopper.join();
  EXPECT_TRUE(is_gone(pid_in("pid")));
}

TEST_F(ProgramRankTest, LeavesNoGrandchildBehindAProgramThatEnds) {
  const auto go = fifo("go");
  start("(setsid sh -c 'echo $$ > $FOLDER/pid; echo go > $FOLDER/go; exec sleep 1000' &); read line < $FOLDER/go");
  EXPECT_TRUE(next().finished);
  EXPECT_TRUE(is_gone(pid_in("pid")));
}

TEST_F(ProgramRankTest, LeavesNoProcessBehindWhenItIsDropped) {
  {
    ProgramRank dropped;
    ASSERT_TRUE(dropped.start(program("echo $$ > $FOLDER/pid; report '{\"step\": 1}'; sleep 1000")));
    EXPECT_EQ(dropped.next_report()->step, 1);
  }
  EXPECT_TRUE(is_gone(pid_in("pid")));
}

TEST_F(ProgramRankTest, StartsOnceAndSaysWhatItCannotStart) {
  EXPECT_EQ(rank.next_report().error().code, Code::Invalid);
  EXPECT_EQ(rank.stop(kAtOnce).error().code, Code::Invalid);
  ProgramStart missing = program("");
  missing.argv = {"no-such-program"};
  EXPECT_EQ(rank.start(missing).error().code, Code::NotFound);
  start("true");
  EXPECT_EQ(rank.start(program("true")).error().code, Code::Invalid);
}

}  // namespace
}  // namespace rt
