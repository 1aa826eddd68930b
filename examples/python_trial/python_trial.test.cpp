// The example as its user meets it: run by a ProgramRank with the contract of docs/programs.md.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "rt/actors/program/program_rank.h"
#include "rt/actors/testing/temp_folder.h"

namespace rt {
namespace {

using testing::read_file;
using testing::TempFolder;

constexpr StopDeadlines kPatient{.save = std::chrono::hours(1), .terminate = std::chrono::hours(1)};

ProgramStart train(const TempFolder& folder) {
  return {.argv = {"python3", "-B", RT_EXAMPLE "/train.py"},
          .directory = folder.path(),
          .log = folder / "log",
          .python_path = RT_PYTHON,
          .trial_id = "0001",
          .parameters = R"({"hidden": 4, "epochs": 9})"};
}

std::vector<ProgramReport> run(const ProgramStart& start) {
  ProgramRank rank;
  const Status started = rank.start(start);
  EXPECT_TRUE(started) << started.error().message;
  std::vector<ProgramReport> reports;
  while (started) {
    auto report = rank.next_report();
    EXPECT_TRUE(report) << report.error().message;
    if (!report || report->finished) break;
    reports.push_back(*std::move(report));
  }
  return reports;
}

TEST(PythonTrial, ReportsEachEpochAndSavesEachThird) {
  const TempFolder folder;
  const auto reports = run(train(folder));
  ASSERT_EQ(reports.size(), 9);
  for (std::size_t i = 0; i < reports.size(); ++i) {
    EXPECT_EQ(reports[i].step, i + 1);
    EXPECT_EQ(reports[i].checkpoint.empty(), (i + 1) % 3 != 0);
  }
  EXPECT_GT(reports.back().metrics.at("accuracy"), 0.95);  // the best straight line: 0.905
}

TEST(PythonTrial, GoesOnFromACheckpointToTheBit) {
  const TempFolder folder;
  const auto whole = run(train(folder));
  ASSERT_EQ(whole.size(), 9);

  ProgramStart again = train(folder);
  again.generation = 2;
  again.restore = whole[5].checkpoint;
  again.step = 6;
  const auto rest = run(again);
  ASSERT_EQ(rest.size(), 3);
  for (std::size_t i = 0; i < rest.size(); ++i) EXPECT_EQ(rest[i].metrics, whole[6 + i].metrics);
  EXPECT_EQ(read_file(rest[2].checkpoint / "network.json"), read_file(whole[8].checkpoint / "network.json"));
  EXPECT_NE(rest[2].checkpoint, whole[8].checkpoint);
}

// rt.report(1, {"loss": 0.5}) would take the dict for a checkpoint's name, and lose the metric.
TEST(RtReport, TakesMetricsByNameOnlyAndNoneAsNotANumber) {
  const TempFolder folder;
  ProgramStart start = train(folder);
  start.argv = {"python3", "-B", folder.write("program.py", R"(
import rt
try:
    rt.report(1, {"loss": 0.5})
except TypeError:
    rt.report(2, loss=None)
)")};
  const auto reports = run(start);
  ASSERT_EQ(reports.size(), 1);
  EXPECT_EQ(reports[0].step, 2);
  EXPECT_TRUE(std::isnan(reports[0].metrics.at("loss")));
}

TEST(PythonTrial, SavesAndLeavesWhenItIsAskedTo) {
  const TempFolder folder;
  ProgramStart endless = train(folder);
  endless.parameters = R"({"hidden": 2, "epochs": 1000000})";
  ProgramRank rank;
  ASSERT_TRUE(rank.start(endless));
  ASSERT_TRUE(rank.next_report());
  const auto stopped = rank.stop(kPatient);
  ASSERT_TRUE(stopped) << stopped.error().message;
  ProgramReport last;
  while (auto report = rank.next_report()) last = *std::move(report);
  EXPECT_EQ(last.checkpoint, folder / "checkpoints" / ("step-" + std::to_string(last.step)));
}

}  // namespace
}  // namespace rt
