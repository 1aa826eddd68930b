#include "rt/tune/results.h"

#include <gtest/gtest.h>

#include <cmath>

namespace rt::tune {
namespace {

Sweep sweep_of_three() {
  Sweep sweep;
  sweep.name = "small";
  sweep.trainable = "Curve";
  sweep.method = Method::Grid;
  sweep.space = {
      Parameter{"opt", Space{Parameter{"name", Distribution{Categorical{.values = {"a,b", "say \"hi\"", "c"}}}}}}};
  sweep.metric = Metric{.name = "loss"};
  sweep.asha = AshaOptions{.min_iter = 1, .max_iter = 9, .eta = 3};
  sweep.max_failures = 1;
  return sweep;
}

class ResultsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* parameters[] = {R"({"opt":{"name":"a,b"}})", R"({"opt":{"name":"say \"hi\""}})",
                                R"({"opt":{"name":"c"}})"};
    apply(SweepStarted{});
    for (TrialIndex trial = 0; trial < 3; ++trial) {
      apply(TrialCreated{trial, trial_id(trial), parameters[trial], trial_seed(0, trial)});
    }
    apply(GenerationStarted{0, 1});
    apply(GenerationStarted{1, 1});
    report(0, 1, 0.5, Verdict::Continue, "step-00000001", 1.5);
    report(0, 9, 0.75, Verdict::Complete, "step-00000009", 9.25);
    report(1, 1, std::nan(""), Verdict::Continue, "", 2);
    apply(TrialEnded{0, EndReason::Completed});
    apply(RankFailed{1, 1, 0, "signal 9", "", false});
  }
  void apply(const Record& record) {
    const Status applied = history.apply(record);
    ASSERT_TRUE(applied) << applied.error().message;
  }
  void report(TrialIndex trial, std::int64_t step, double loss, Verdict verdict, std::string checkpoint,
              double seconds) {
    Reported record{.trial = trial,
                    .generation = 1,
                    .step = step,
                    .metrics = {{"loss", loss}},
                    .verdict = verdict,
                    .seconds = seconds};
    if (!checkpoint.empty()) record.checkpoint = Checkpoint{std::move(checkpoint), {}};
    apply(record);
  }
  History history{sweep_of_three()};
};

TEST_F(ResultsTest, HaveARowForEachTrial) {
  const Results results = results_of(history, [](TrialIndex trial) { return trial == 1; });
  ASSERT_EQ(results.rows.size(), 3u);
  EXPECT_EQ(results.best, 0u);
  EXPECT_EQ(results.rows[0].state, "completed");
  EXPECT_EQ(results.rows[0].checkpoint, "trials/0001/checkpoints/step-00000001");
  EXPECT_EQ(results.rows[0].rung, 2);
  EXPECT_EQ(results.rows[1].state, "running");
  EXPECT_TRUE(std::isnan(*results.rows[1].metric));
  EXPECT_EQ(results.rows[1].best_metric, std::nullopt);
  EXPECT_EQ(results.rows[2].state, "waiting");
}

TEST_F(ResultsTest, CallATrialUnfinishedThatNobodyRuns) {
  const Results results = results_of(history);
  EXPECT_EQ(results.state, "unfinished");
  EXPECT_EQ(results.rows[1].state, "unfinished");
  EXPECT_EQ(results.rows[2].state, "waiting");
}

TEST_F(ResultsTest, AreJsonInAFixedSchema) {
  const Value json = Value::parse(to_json(results_of(history)));
  const Value expected = Value::parse(R"({
    "schema": 1, "name": "small", "metric": "loss", "goal": "minimize", "state": "unfinished", "cause": null,
    "planned": 3, "best": "0001",
    "trials": [
      {"trial": "0001", "state": "completed", "reason": "completed", "parameters": {"opt": {"name": "a,b"}},
       "iteration": 9, "metric": 0.75, "best_metric": 0.5, "best_iteration": 1, "rung": 2, "seconds": 9.25,
       "failures": 0, "checkpoint": "trials/0001/checkpoints/step-00000001", "error": null},
      {"trial": "0002", "state": "unfinished", "reason": null, "parameters": {"opt": {"name": "say \"hi\""}},
       "iteration": 1, "metric": null, "best_metric": null, "best_iteration": null, "rung": 1, "seconds": 2.0,
       "failures": 1, "checkpoint": null, "error": "signal 9"},
      {"trial": "0003", "state": "waiting", "reason": null, "parameters": {"opt": {"name": "c"}},
       "iteration": null, "metric": null, "best_metric": null, "best_iteration": null, "rung": 0, "seconds": 0.0,
       "failures": 0, "checkpoint": null, "error": null}
    ]})");
  EXPECT_EQ(json, expected) << json.dump(1);
}

TEST_F(ResultsTest, AreCsvQuotedAsRfc4180Says) {
  EXPECT_EQ(to_csv(results_of(history)),
            "trial,state,reason,iteration,metric,best_metric,best_iteration,rung,seconds,failures,checkpoint,error,"
            "parameters.opt.name\r\n"
            "0001,completed,completed,9,0.75,0.5,1,2,9.250,0,trials/0001/checkpoints/step-00000001,,\"a,b\"\r\n"
            "0002,unfinished,,1,nan,,,1,2.000,1,,signal 9,\"say \"\"hi\"\"\"\r\n"
            "0003,waiting,,,,,,0,0.000,0,,,c\r\n");
}

TEST(Flatten, NamesALeafByItsPath) {
  const auto leaves = flatten(Value::parse(R"({"a": 1, "b": {"c": [1, 2], "d": {"e": null}}, "f": {}})"));
  ASSERT_EQ(leaves.size(), 4u);
  EXPECT_EQ(leaves[1].first, "b.c");
  EXPECT_EQ(leaves[2].first, "b.d.e");
  EXPECT_EQ(leaves[3].first, "f");
}

}  // namespace
}  // namespace rt::tune
