#include "rt/tune/history.h"

#include <gtest/gtest.h>

#include <cmath>

#include "rt/tune/tuner.h"

namespace rt::tune {
namespace {

Sweep two_trials() {
  Sweep sweep;
  sweep.trainable = "Curve";
  sweep.method = Method::Grid;
  sweep.space = {Parameter{"x", Distribution{Categorical{.values = {1, 2}}}}};
  sweep.metric = Metric{.name = "loss"};
  sweep.asha = AshaOptions{.min_iter = 1, .max_iter = 9, .eta = 3};
  sweep.seed = 5;
  return sweep;
}

TrialCreated created(TrialIndex trial) {
  return {trial, trial_id(trial), trial == 0 ? R"({"x":1})" : R"({"x":2})", trial_seed(5, trial)};
}

Reported reported(TrialIndex trial, std::int64_t step, double loss, Verdict verdict = Verdict::Continue) {
  return {.trial = trial,
          .generation = 1,
          .step = step,
          .metrics = {{"loss", loss}},
          .checkpoint = Checkpoint{checkpoint_name(step), {}},
          .verdict = verdict};
}

std::vector<Record> sound_journal() {
  return {SweepStarted{.seed = 5},           created(0),          created(1),
          GenerationStarted{0, 1},           reported(0, 1, 0.5), GenerationStarted{1, 1},
          reported(1, 1, 0.7, Verdict::Stop)};
}

struct Unsound {
  std::string name;
  std::size_t keep;  // records of the sound journal before it
  Record record;
  std::string message;
};

class HistoryRefuses : public ::testing::TestWithParam<Unsound> {};

TEST_P(HistoryRefuses, ARecordThatCannotFollowAndNamesIt) {
  auto journal = sound_journal();
  ASSERT_TRUE(Tuner::replay(two_trials(), journal));
  journal.resize(GetParam().keep);
  journal.push_back(GetParam().record);
  const auto replayed = Tuner::replay(two_trials(), journal);
  ASSERT_FALSE(replayed);
  EXPECT_EQ(replayed.error().code, Code::Corrupt);
  EXPECT_EQ(replayed.error().message,
            "record " + std::to_string(GetParam().keep + 1) + " of the sweep's journal " + GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, HistoryRefuses,
    testing::Values(
        Unsound{"NoStart", 0, created(0), "(TrialCreated of trial 0001) doesn't fit: no SweepStarted comes before it"},
        Unsound{"TwoStarts", 1, SweepStarted{.seed = 5}, "(SweepStarted) doesn't fit: the sweep has started already"},
        Unsound{"OtherSeed", 0, SweepStarted{.seed = 6},
                "(SweepStarted) doesn't fit: the journal is of a sweep with seed 6, not 5"},
        Unsound{"TrialTooMany", 3, created(2),
                "(TrialCreated of trial 0003) doesn't fit: the search has no further trial"},
        Unsound{"UnknownTrial", 3, GenerationStarted{4, 1},
                "(GenerationStarted of trial 0005) doesn't fit: trial 4 was never created, there are 2"},
        Unsound{"GenerationGap", 3, GenerationStarted{0, 3},
                "(GenerationStarted of trial 0001) doesn't fit: it is of generation 2, the trial is in 0"},
        Unsound{"RestoreOfNothing", 3, GenerationStarted{0, 1, "step-00000009", 9},
                "(GenerationStarted of trial 0001) doesn't fit: it goes on from checkpoint 'step-00000009' of step 9, "
                "the newest is ''"},
        Unsound{"StepTwice", 5, reported(0, 1, 0.4),
                "(Reported of trial 0001) doesn't fit: step 1 was reported before, the last was 1"},
        Unsound{"OtherDecision", 6, reported(1, 1, 0.7, Verdict::Continue),
                "(Reported of trial 0002) doesn't fit: at step 1 it decided 'continue', the same report now gives "
                "'stop'"},
        Unsound{"ReportAfterTheDecision", 7, reported(1, 2, 0.1),
                "(Reported of trial 0002) doesn't fit: the trial's end (stopped by the scheduler) is decided"},
        Unsound{"OtherEnd", 7, TrialEnded{1, EndReason::Completed},
                "(TrialEnded of trial 0002) doesn't fit: the trial ends as 'completed', decided was 'stopped by the "
                "scheduler'"},
        Unsound{"UnknownCheckpoint", 7, CheckpointDropped{0, "step-00000003"},
                "(CheckpointDropped of trial 0001) doesn't fit: the trial holds no checkpoint 'step-00000003'"},
        Unsound{"TooManyTries", 4, RankFailed{.trial = 0, .generation = 1},
                "(RankFailed of trial 0001) doesn't fit: failure 1 is to be tried again, max_failures is 0"},
        Unsound{"EndWithOpenTrials", 7, SweepEnded{}, "(SweepEnded) doesn't fit: 2 trials have not ended"}),
    [](const auto& info) { return info.param.name; });

TEST(History, OwesWhatACrashCutOff) {
  auto replayed = Tuner::replay(two_trials(), sound_journal());
  ASSERT_TRUE(replayed);
  EXPECT_EQ(replayed->resume({.run_id = "2"}).records,
            (std::vector<Record>{Resumed{.run_id = "2"}, TrialEnded{1, EndReason::StoppedByScheduler}}));
}

TEST(History, NeverTakesNanAsBestAndGivesTiesToTheLowerIndex) {
  Sweep sweep = two_trials();
  sweep.asha.reset();
  History history(sweep);
  for (const Record& record : std::vector<Record>{SweepStarted{.seed = 5}, created(0), created(1),
                                                  GenerationStarted{0, 1}, GenerationStarted{1, 1}}) {
    ASSERT_TRUE(history.apply(record));
  }
  ASSERT_TRUE(history.apply(reported(0, 1, std::nan(""))));
  EXPECT_EQ(history.best_trial(), std::nullopt);
  ASSERT_TRUE(history.apply(reported(1, 1, 0.5)));
  EXPECT_EQ(history.best_trial(), 1);
  ASSERT_TRUE(history.apply(reported(0, 2, 0.5)));
  EXPECT_EQ(history.best_trial(), 0);
  ASSERT_TRUE(history.apply(reported(1, 2, std::nan(""))));
  EXPECT_EQ(history.best_trial(), 0);
}

TEST(History, KeepsTheBestCheckpointOfTheSweepWhereverItsTrialWentOnTo) {
  Sweep sweep = two_trials();
  sweep.asha.reset();
  History history(sweep);
  for (const Record& record :
       std::vector<Record>{SweepStarted{.seed = 5}, created(0), created(1), GenerationStarted{0, 1},
                           GenerationStarted{1, 1}, reported(0, 1, 0.1), reported(0, 2, 0.9)}) {
    ASSERT_TRUE(history.apply(record));
  }
  EXPECT_EQ(history.owed(), std::nullopt);
  ASSERT_TRUE(history.apply(reported(1, 1, 0.05)));
  EXPECT_EQ(history.owed(), (Record{CheckpointDropped{0, "step-00000001"}}));
}

TEST(History, ForgetsABestCheckpointThatAProgramHasOverwritten) {
  Sweep sweep = two_trials();
  sweep.asha.reset();
  sweep.trainable.clear();
  History history(sweep);
  auto named = [](std::int64_t step, double loss, std::string name) {
    Reported report = reported(0, step, loss);
    report.checkpoint->name = std::move(name);
    return report;
  };
  for (const Record& record : std::vector<Record>{SweepStarted{.seed = 5}, created(0), GenerationStarted{0, 1},
                                                  named(1, 0.1, "a"), named(2, 0.9, "a"), named(3, 0.8, "b")}) {
    ASSERT_TRUE(history.apply(record));
  }
  EXPECT_EQ(history.owed(), (Record{CheckpointDropped{0, "a"}}));
}

}  // namespace
}  // namespace rt::tune
