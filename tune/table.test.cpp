#include "rt/tune/table.h"

#include <gtest/gtest.h>

#include <cmath>

#include "rt/tune/text_table.h"

namespace rt::tune {
namespace {

using Lines = std::vector<std::string>;

Row row(std::string trial, std::string state, double lr, std::int64_t iteration, std::optional<double> metric,
        double best, int rung, double seconds) {
  return {.trial = std::move(trial),
          .state = std::move(state),
          .parameters = {{"lr", lr}, {"opt", {{"name", "adam"}}}},
          .iteration = iteration,
          .metric = metric,
          .best_metric = best,
          .rung = rung,
          .seconds = seconds};
}

Results four_trials() {
  Results results{.name = "digits", .metric = "accuracy", .goal = Goal::Maximize, .state = "running", .planned = 27};
  results.rows = {
      row("0001", "completed", 0.01, 9, 0.95, 0.9612, 2, 61), row("0002", "stopped", 0.5, 1, 0.11, 0.11, 0, 7),
      row("0003", "running", 0.001234567, 3, 0.9, 0.9, 1, 20), row("0004", "completed", 0.02, 9, 0.978, 0.978, 2, 60),
      Row{.trial = "0005", .state = "failed", .parameters = {{"lr", 9}}, .failures = 1}};
  results.best = 3;
  return results;
}

TEST(Headline, SaysHowFarTheSweepIs) {
  EXPECT_EQ(headline(four_trials(), {.elapsed_seconds = 42}),
            "4 of 27 trials, 1 running, 1 failed, best accuracy 0.978 (trial 0004), 0:42 elapsed, about 4:01 left");
}

TEST(Headline, LeavesOutWhatIsNotKnown) {
  Results results{.state = "running"};
  EXPECT_EQ(headline(results, {.elapsed_seconds = 3725}), "0 trials, 0 running, 0 failed, 1:02:05 elapsed");
}

TEST(SecondsLeft, FollowTheRateOfThisRunAlone) {
  EXPECT_EQ(seconds_left(12, 27, {.elapsed_seconds = 60, .ended_before = 10}), 450);
  EXPECT_EQ(seconds_left(12, 27, {.elapsed_seconds = 60, .ended_before = 12}), std::nullopt);
  EXPECT_EQ(seconds_left(12, std::nullopt, {.elapsed_seconds = 60}), std::nullopt);
}

TEST(LiveFrame, PutsRunningTrialsFirstAndThenTheBest) {
  EXPECT_EQ(live_frame(four_trials(), {.elapsed_seconds = 42}, {.width = 110, .height = 24}),
            (Lines{
                "4 of 27 trials, 1 running, 1 failed, best accuracy 0.978 (trial 0004), 0:42 elapsed, about 4:01 left",
                "trial   state      parameters                 iteration  accuracy    best  rung  time",
                "0003    running    lr=0.001235 opt.name=adam          3       0.9     0.9     1  0:20",
                "0004 *  completed  lr=0.02 opt.name=adam              9     0.978   0.978     2  1:00",
                "0001    completed  lr=0.01 opt.name=adam              9      0.95  0.9612     2  1:01",
                "0002    stopped    lr=0.5 opt.name=adam               1      0.11    0.11     0  0:07",
                "0005    failed     lr=9                               -         -       -     -  0:00",
            }));
}

TEST(LiveFrame, FitsTheTerminalAndSaysWhatItLeavesOut) {
  EXPECT_EQ(live_frame(four_trials(), {.elapsed_seconds = 42}, {.width = 45, .height = 5}),
            (Lines{
                "4 of 27 trials, 1 running, 1 failed, best ac…",
                "trial   state      parameters        accuracy",
                "0003    running    lr=0.001235 opt…       0.9",
                "0004 *  completed  lr=0.02 opt.nam…     0.978",
                "and 3 more",
            }));
  for (std::size_t height = 0; height < 10; ++height) {
    const Lines lines = live_frame(four_trials(), {}, {.width = 30, .height = height});
    EXPECT_LE(lines.size(), height);
    for (const std::string& line : lines) EXPECT_LE(display_width(line), 30u);
  }
}

TEST(FinalTable, HasEveryTrialTheBestFirst) {
  const Lines lines = final_table(four_trials(), 120);
  ASSERT_EQ(lines.size(), 6u);
  const char* order[] = {"0004 *", "0001", "0003", "0002", "0005"};
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(lines[i + 1].starts_with(order[i])) << lines[i + 1];
}

TEST(NumberText, HasFourDigits) {
  EXPECT_EQ(number_text(0.978125), "0.9781");
  EXPECT_EQ(number_text(1.25e-5), "1.25e-05");
  EXPECT_EQ(number_text(-std::nan("")), "nan");
  EXPECT_EQ(number_text(3), "3");
}

class EventLineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Sweep sweep;
    sweep.trainable = "Curve";
    sweep.method = Method::Grid;
    sweep.space = {Parameter{"x", Distribution{Categorical{.values = {1, 2}}}}};
    sweep.metric = Metric{.name = "loss"};
    sweep.max_failures = 1;
    sweep.asha = AshaOptions{.min_iter = 2, .max_iter = 9, .eta = 3};
    history.emplace(sweep);
    for (const Record& record :
         std::vector<Record>{SweepStarted{}, TrialCreated{0, "0001", R"({"x":1})", trial_seed(0, 0)}}) {
      ASSERT_TRUE(history->apply(record));
    }
  }
  std::optional<std::string> say(const Record& record) {
    EXPECT_TRUE(history->apply(record));
    return event_line(record, *history);
  }
  std::optional<History> history;
};

TEST_F(EventLineTest, FollowsATrialFromItsStartToItsEnd) {
  EXPECT_EQ(say(GenerationStarted{0, 1}), "trial 0001 started: x=1");
  EXPECT_EQ(say(Reported{.trial = 0, .generation = 1, .step = 1, .metrics = {{"loss", 0.5}}}), std::nullopt);
  EXPECT_EQ(say(Reported{.trial = 0, .generation = 1, .step = 2, .metrics = {{"loss", 0.25}}}),
            "trial 0001 iteration 2, loss 0.25");
  EXPECT_EQ(
      say(RankFailed{0, 1, 1, "signal 11; it wrote:\nTraceback\n  ValueError\n", "no data\x1b[2J\n", false}),
      "trial 0001 failed on rank 1 (it is tried again): signal 11; it wrote:\n    | Traceback\n    |   ValueError\n"
      "    | no data?[2J");
  EXPECT_EQ(say(GenerationStarted{0, 2}), "trial 0001 goes on from the start (generation 2)");
  EXPECT_EQ(say(TrialEnded{0, EndReason::Completed}), "trial 0001 ended (completed) at iteration 2, best loss 0.25");
  EXPECT_EQ(say(SweepEnded{0, ""}), "sweep ended after 1 trial");
}

}  // namespace
}  // namespace rt::tune
