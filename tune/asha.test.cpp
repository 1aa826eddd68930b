#include "rt/tune/asha.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "rt/tune/fifo.h"
#include "rt/tune/sweep.h"
#include "rt/tune/value.h"

namespace rt::tune {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Value data(const std::string& name) { return Value::parse(std::ifstream(RT_TEST_DATA "/tune/" + name)); }

// One letter an event, as the recording has them.
std::string decisions(const Value& sequence) {
  Asha asha({.min_iter = sequence["grace"], .max_iter = sequence["max_t"], .eta = sequence["eta"]},
            sequence["mode"] == "max" ? Goal::Maximize : Goal::Minimize);
  const std::string recorded = sequence["ray"];
  std::string letters;
  for (const Value& event : sequence["events"]) {
    if (recorded[letters.size()] == '-') {
      letters += '-';
      continue;
    }
    const double value = event[2].is_string() ? kNan : event[2].get<double>();
    letters += asha.on_report(event[0], event[1], value) == Decision::Stop ? 'S' : 'C';
  }
  return letters;
}

TEST(Asha, DecidesAsRayDoesOnEveryRecordedSequence) {
  const Value oracle = data("asha_stopping.json");
  ASSERT_EQ(oracle["sequences"].size(), 120u);
  for (const Value& sequence : oracle["sequences"])
    EXPECT_EQ(decisions(sequence), sequence["ray"]) << sequence["id"] << " " << sequence["kind"];
}

// Rebuilt from the same reports it is in the same state: what a restart relies on.
TEST(Asha, AReplayOfTheReportsGoesOnWithTheSameDecisions) {
  const Value sequence = data("asha_stopping.json")["sequences"][0];
  EXPECT_EQ(decisions(sequence), decisions(sequence));
}

struct Replay {
  std::vector<int> lengths;  // epochs of each trial, sorted
  int epochs = 0;
  double best = 0;
};

// One worker: a trial after the other, each until it is stopped.
Replay replay(const Value& trials) {
  Asha asha({.min_iter = 1, .max_iter = 27, .eta = 3}, Goal::Maximize);
  Replay result;
  for (std::size_t trial = 0; trial < trials.size(); ++trial) {
    int epoch = 0;
    for (const Value& accuracy : trials[trial]["acc"]) {
      ++epoch;
      result.best = std::max(result.best, accuracy.get<double>());
      if (asha.on_report(static_cast<std::int64_t>(trial), epoch, accuracy) == Decision::Stop) break;
    }
    result.lengths.push_back(epoch);
    result.epochs += epoch;
  }
  std::sort(result.lengths.begin(), result.lengths.end());
  return result;
}

TEST(Asha, TrainsTheDigitsCurvesForAsLongAsRayDoes) {
  const Value curves = data("digits_curves.json");
  const Value methods = data("digits_replay.json")["methods"];
  const Value& ray = *std::find_if(methods.begin(), methods.end(),
                                   [](const Value& m) { return m["method"] == "ray_ASHA_eta3_1worker"; });
  for (std::size_t i = 0; i < curves["seeds"].size(); ++i) {
    const Replay seen = replay(curves["seeds"][i]["trials"]);
    EXPECT_EQ(seen.epochs, ray["epochs_per_seed"][i]);
    EXPECT_NEAR(seen.best, ray["best_acc_per_seed"][i].get<double>(), 5e-5);  // recorded with four digits
    if (i == 0) {
      EXPECT_EQ(seen.lengths, ray["trial_lengths_seed0"].get<std::vector<int>>());
    }
  }
}

TEST(Asha, NamesTheStepsAtWhichADecisionCanFall) {
  const Asha asha({.min_iter = 2, .max_iter = 20, .eta = 2.5}, Goal::Minimize);  // rungs 2, 5, 12.5
  EXPECT_EQ(asha.next_rung(0), 2);
  EXPECT_EQ(asha.next_rung(2), 5);
  EXPECT_EQ(asha.next_rung(5), 13);
  EXPECT_EQ(asha.next_rung(13), 20);
  EXPECT_EQ(asha.next_rung(20), std::nullopt);
  EXPECT_EQ(asha.rungs_reached(1), 0);
  EXPECT_EQ(asha.rungs_reached(5), 2);
  EXPECT_EQ(asha.rungs_reached(100), 3);
}

TEST(Asha, HasNoRungAtItsEnd) {
  Asha asha({.min_iter = 27, .max_iter = 27, .eta = 3}, Goal::Minimize);
  EXPECT_EQ(asha.on_report(0, 26, 1.0), Decision::Continue);
  EXPECT_EQ(asha.on_report(0, 27, 1.0), Decision::Stop);
  EXPECT_EQ(asha.next_rung(0), 27);
}

TEST(Fifo, StopsNothing) {
  Fifo fifo;
  EXPECT_EQ(fifo.on_report(0, 1'000'000, kNan), Decision::Continue);
  EXPECT_EQ(fifo.next_rung(0), std::nullopt);
}

TEST(MakeScheduler, IsWhatTheSweepNames) {
  Sweep sweep;
  EXPECT_NE(dynamic_cast<Fifo*>(make_scheduler(sweep).get()), nullptr);
  sweep.metric = Metric{.name = "loss"};
  sweep.asha = AshaOptions{.max_iter = 9};
  EXPECT_NE(dynamic_cast<Asha*>(make_scheduler(sweep).get()), nullptr);
}

}  // namespace
}  // namespace rt::tune
