#include "rt/tune/tuner.h"

#include <gtest/gtest.h>

#include <cmath>

namespace rt::tune {
namespace {

using namespace std::chrono_literals;
using Commands = std::vector<Command>;

constexpr TimePoint at(std::chrono::seconds since_start) { return TimePoint{} + since_start; }

Sweep sweep_of(int trials) {
  Categorical choices;
  for (int i = 0; i < trials; ++i) choices.values.emplace_back(i);
  Sweep sweep;
  sweep.trainable = "Curve";
  sweep.method = Method::Grid;
  sweep.space = {Parameter{"x", Distribution{choices}}};
  sweep.metric = Metric{.name = "accuracy", .goal = Goal::Maximize};
  sweep.stop.iterations = 4;
  return sweep;
}

Report report(TrialIndex trial, int generation, std::int64_t step, double accuracy = 0.5) {
  return {.trial = trial, .generation = generation, .step = step, .metrics = {{"accuracy", accuracy}}};
}

template <class T>
std::vector<T> only(const std::vector<Record>& records) {
  std::vector<T> found;
  for (const Record& record : records) {
    if (const T* one = std::get_if<T>(&record)) found.push_back(*one);
  }
  return found;
}

class TunerTest : public testing::Test {
 protected:
  void begin(Sweep sweep, int slots = 1) {
    tuner.emplace(std::move(sweep));
    keep(tuner->start({.text = "sweep"}));
    send(SlotsChanged{slots});
  }
  Commands send(const Event& event) {
    now += 1s;
    return keep(tuner->handle(event, now));
  }
  Commands keep(Outcome outcome) {
    last = outcome.records;
    for (Record& record : outcome.records) journal.push_back(std::move(record));
    return outcome.commands;
  }
  void run_to_first_step(TrialIndex trial) {
    send(GangGranted{trial});
    send(RanksReady{trial, 1});
  }
  void end(TrialIndex trial, int generation) { send(TrialStopped{.trial = trial, .generation = generation}); }
  const TrialState& state(TrialIndex trial) const { return tuner->history().trials()[trial]; }

  std::optional<Tuner> tuner;
  TimePoint now{};
  std::vector<Record> journal, last;
};

TEST_F(TunerTest, AsksForOneGangMoreThanThereAreSlotsAndCreatesNoOtherTrial) {
  tuner.emplace(sweep_of(9));
  EXPECT_TRUE(keep(tuner->start({})).empty());
  EXPECT_EQ(send(SlotsChanged{2}), (Commands{RequestGang{0}, RequestGang{1}, RequestGang{2}}));
  EXPECT_EQ(only<TrialCreated>(journal).size(), 3u);
}

TEST_F(TunerTest, DrivesATrainableStepByStep) {
  begin(sweep_of(1));
  EXPECT_EQ(send(GangGranted{0}), (Commands{Launch{0, 1, "", 0}}));
  EXPECT_EQ(last, (std::vector<Record>{GenerationStarted{0, 1, "", 0}}));
  EXPECT_EQ(send(RanksReady{0, 1}), (Commands{Step{0, 1}}));
  EXPECT_EQ(send(report(0, 1, 1)), (Commands{Step{0, 2}}));
  EXPECT_EQ(only<Reported>(last).at(0).step, 1);
}

TEST_F(TunerTest, RecordsTheLastReportTogetherWithItsCheckpointAndThenStops) {
  Sweep sweep = sweep_of(1);
  sweep.stop.iterations = 1;
  begin(sweep);
  run_to_first_step(0);
  EXPECT_EQ(send(report(0, 1, 1)), (Commands{Save{0, 1, "step-00000001"}}));
  EXPECT_TRUE(last.empty());

  const Checkpoint checkpoint{"step-00000001", {{"model.pt", 4, 5}}};
  EXPECT_EQ(send(Saved{0, 1, 1, checkpoint}), (Commands{StopTrial{0, 1}}));
  ASSERT_EQ(last.size(), 3u);
  EXPECT_EQ(std::get<Reported>(last[0]).checkpoint, checkpoint);
  EXPECT_EQ(std::get<Reported>(last[0]).verdict, Verdict::Condition);
  EXPECT_EQ(last[1], (Record{TrialEnded{0, EndReason::StopCondition}}));
  EXPECT_EQ(last[2], (Record{SweepEnded{0, ""}}));
  EXPECT_EQ(send(TrialStopped{.trial = 0, .generation = 1}), (Commands{ReleaseGang{0}, Finish{}}));
}

TEST_F(TunerTest, SavesAtEachRungOfTheScheduler) {
  Sweep sweep = sweep_of(1);
  sweep.stop = {};
  sweep.asha = AshaOptions{.min_iter = 2, .max_iter = 9, .eta = 3};
  begin(sweep);
  run_to_first_step(0);
  EXPECT_EQ(send(report(0, 1, 1)), (Commands{Step{0, 2}}));
  EXPECT_EQ(send(report(0, 1, 2)), (Commands{Save{0, 2, "step-00000002"}}));
}

TEST_F(TunerTest, CountsTrainingTimeFromTheMomentTheRanksAreReady) {
  Sweep sweep = sweep_of(1);
  sweep.stop.seconds = 30;
  begin(sweep);
  send(GangGranted{0});
  keep(tuner->handle(RanksReady{0, 1}, at(100s)));
  keep(tuner->handle(report(0, 1, 1), at(129s)));
  EXPECT_DOUBLE_EQ(only<Reported>(last).at(0).seconds, 29);
  EXPECT_EQ(keep(tuner->handle(report(0, 1, 2), at(131s))), (Commands{Save{0, 2, "step-00000002"}}));
}

TEST_F(TunerTest, TriesAFailedTrialAgainOnItsGangFromItsLastCheckpoint) {
  Sweep sweep = sweep_of(2);
  sweep.max_failures = 1;
  sweep.checkpoint.every = 2;
  begin(sweep);
  run_to_first_step(0);
  send(report(0, 1, 1));
  send(report(0, 1, 2));
  send(Saved{0, 1, 2, {"step-00000002", {}}});
  EXPECT_EQ(send(RankDied{.trial = 0, .generation = 1, .rank = 1, .cause = "signal 9"}), (Commands{StopTrial{0, 1}}));
  EXPECT_EQ(send(TrialStopped{.trial = 0, .generation = 1}), (Commands{Launch{0, 2, "step-00000002", 2}}));
  EXPECT_EQ(send(RanksReady{0, 2}), (Commands{Step{0, 3}}));

  EXPECT_EQ(send(RankDied{.trial = 0, .generation = 2, .cause = "signal 9"}), (Commands{StopTrial{0, 2}}));
  EXPECT_EQ(last.at(1), (Record{TrialEnded{0, EndReason::Failed}}));
  EXPECT_EQ(send(TrialStopped{.trial = 0, .generation = 2}), (Commands{ReleaseGang{0}}));
}

TEST_F(TunerTest, AsksForANewGangWhereTheOldOneWentWithItsNode) {
  Sweep sweep = sweep_of(1);
  sweep.max_failures = 1;
  begin(sweep);
  run_to_first_step(0);
  EXPECT_EQ(send(RankDied{.trial = 0, .generation = 1, .cause = "node lost", .gang_lost = true}),
            (Commands{RequestGang{0}}));
  EXPECT_EQ(send(GangGranted{0}), (Commands{Launch{0, 2, "", 0}}));
}

TEST_F(TunerTest, RunsStepsAfterTheCheckpointAgainWithoutRecordingThemTwice) {
  Sweep sweep = sweep_of(1);
  sweep.max_failures = 1;
  begin(sweep);
  run_to_first_step(0);
  send(report(0, 1, 1));
  send(report(0, 1, 2));
  send(RankDied{.trial = 0, .generation = 1, .cause = "signal 9"});
  end(0, 1);
  EXPECT_EQ(send(RanksReady{0, 2}), (Commands{Step{0, 1}}));
  EXPECT_EQ(send(report(0, 2, 1)), (Commands{Step{0, 2}}));
  EXPECT_TRUE(last.empty());
  send(report(0, 2, 2));
  EXPECT_EQ(send(report(0, 2, 3)), (Commands{Step{0, 4}}));
  EXPECT_EQ(only<Reported>(last).at(0).step, 3);
}

TEST_F(TunerTest, CountsEventsOfAnotherGenerationAndObeysNone) {
  Sweep sweep = sweep_of(1);
  sweep.max_failures = 1;
  begin(sweep);
  run_to_first_step(0);
  send(RankDied{.trial = 0, .generation = 1, .cause = "signal 9"});
  end(0, 1);
  send(RanksReady{0, 2});
  const auto before = journal.size();
  for (const Event& stale : std::vector<Event>{report(0, 1, 1), RanksReady{0, 1}, Saved{.trial = 0, .generation = 1},
                                               RankDied{.trial = 0, .generation = 1}, report(7, 1, 1), RanksReady{0, 2},
                                               TrialStopped{.trial = 0, .generation = 2}, report(0, 2, 2)}) {
    EXPECT_TRUE(send(stale).empty());
  }
  EXPECT_EQ(tuner->ignored().stale, 8);
  EXPECT_EQ(journal.size(), before);
}

TEST_F(TunerTest, StopsEveryTrialOnceOneReachesTheTarget) {
  Sweep sweep = sweep_of(9);
  sweep.metric->target = 0.9;
  begin(sweep, 2);
  run_to_first_step(0);
  run_to_first_step(1);
  send(report(1, 1, 1, 0.95));
  EXPECT_EQ(send(Saved{1, 1, 1, {"step-00000001", {}}}), (Commands{StopTrial{0, 1}, StopTrial{1, 1}, ReleaseGang{2}}));
  EXPECT_EQ(std::get<Reported>(last.at(0)).verdict, Verdict::Target);
  EXPECT_EQ(std::vector<Record>(last.begin() + 1, last.end()),
            (std::vector<Record>{TrialEnded{1, EndReason::TargetReached}, TrialEnded{0, EndReason::TargetElsewhere},
                                 TrialEnded{2, EndReason::TargetElsewhere}, SweepEnded{1, "the target was reached"}}));
  end(0, 1);
  EXPECT_EQ(send(TrialStopped{.trial = 1, .generation = 1}), (Commands{ReleaseGang{1}, Finish{}}));
}

TEST_F(TunerTest, FailsATrialWhoseReportLacksTheMetricAndNamesTheNearest) {
  Sweep sweep = sweep_of(2);
  sweep.asha = AshaOptions{.max_iter = 9};
  sweep.max_failures = 5;
  begin(sweep);
  run_to_first_step(0);
  EXPECT_EQ(send(Report{.trial = 0, .generation = 1, .step = 1, .metrics = {{"acuracy", 0.5}, {"loss", 2}}}),
            (Commands{StopTrial{0, 1}}));
  EXPECT_EQ(only<RankFailed>(last).at(0).cause,
            "the report of step 1 has no 'accuracy', the sweep's metric, only acuracy, loss - did you mean 'acuracy'? "
            "Report it at every step, or mend metric.name");
  EXPECT_EQ(last.at(1), (Record{TrialEnded{0, EndReason::Failed}}));
}

TEST_F(TunerTest, TakesAReportWithoutTheMetricWhereNothingDependsOnIt) {
  begin(sweep_of(1));
  run_to_first_step(0);
  EXPECT_EQ(send(Report{.trial = 0, .generation = 1, .step = 1, .metrics = {{"loss", 2}}}), (Commands{Step{0, 2}}));
  EXPECT_EQ(state(0).value, std::nullopt);
}

TEST_F(TunerTest, LetsATrialWithNanGoOn) {
  Sweep sweep = sweep_of(1);
  sweep.asha = AshaOptions{.max_iter = 9};
  begin(sweep);
  run_to_first_step(0);
  send(report(0, 1, 1, std::nan("")));
  EXPECT_EQ(send(Saved{0, 1, 1, {"step-00000001", {}}}), (Commands{Step{0, 2}}));
}

TEST_F(TunerTest, EndsASweepWhoseFirstThreeTrialsFailBeforeAnyReport) {
  begin(sweep_of(100));
  for (TrialIndex trial = 0; trial < 3; ++trial) {
    send(GangGranted{trial});
    send(RankDied{.trial = trial, .generation = 1, .cause = "exit code 127"});
    end(trial, 1);
  }
  ASSERT_TRUE(tuner->history().ended());
  EXPECT_EQ(tuner->history().ended()->cause,
            "3 trials failed and none ever made a report: the program or its command is wrong");
  EXPECT_EQ(tuner->history().trials().size(), 4u);
  EXPECT_EQ(state(3).ended, EndReason::GivenUp);
}

TEST_F(TunerTest, GoesOnPastFailuresOnceATrialHasReported) {
  begin(sweep_of(100));
  run_to_first_step(0);
  send(report(0, 1, 1));
  for (TrialIndex trial = 0; trial < 8; ++trial) {
    if (trial > 0) send(GangGranted{trial});
    send(RankDied{.trial = trial, .generation = 1, .cause = "exit code 1"});
    end(trial, 1);
  }
  EXPECT_FALSE(tuner->history().ended());
}

TEST_F(TunerTest, StopsCleanlyOnRequestWithACheckpointOfTheStepUnderWay) {
  begin(sweep_of(3));
  run_to_first_step(0);
  EXPECT_EQ(send(StopRequested{}), (Commands{ReleaseGang{1}}));
  EXPECT_EQ(send(report(0, 1, 1)), (Commands{Save{0, 1, "step-00000001"}}));
  EXPECT_EQ(send(Saved{0, 1, 1, {"step-00000001", {}}}), (Commands{StopTrial{0, 1}}));
  EXPECT_EQ(send(TrialStopped{.trial = 0, .generation = 1}), (Commands{ReleaseGang{0}, Finish{}}));
  EXPECT_FALSE(state(0).ended);

  auto again = Tuner::replay(sweep_of(3), journal);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again->resume({}).commands.empty());
  EXPECT_EQ(again->handle(SlotsChanged{1}, now).commands, (Commands{RequestGang{0}, RequestGang{1}}));
  EXPECT_EQ(again->handle(GangGranted{0}, now).commands, (Commands{Launch{0, 2, "step-00000001", 1}}));
}

TEST_F(TunerTest, GivesBackAGangThatWasGrantedWhileItsRequestWasTakenBack) {
  begin(sweep_of(3));
  EXPECT_EQ(send(StopRequested{}), (Commands{ReleaseGang{0}, ReleaseGang{1}, Finish{}}));
  EXPECT_EQ(send(GangGranted{0}), (Commands{ReleaseGang{0}}));
}

TEST_F(TunerTest, StopsAndSaysWhyWhereItsGangsCanNeverBePlaced) {
  begin(sweep_of(3));
  send(LeaseRefused{"4 GPUs a rank are asked for, the cluster has 3"});
  ASSERT_TRUE(tuner->history().interrupted());
  EXPECT_EQ(tuner->history().interrupted()->cause, "4 GPUs a rank are asked for, the cluster has 3");
}

TEST_F(TunerTest, DropsWhatIsNeitherNewestNorBest) {
  Sweep sweep = sweep_of(1);
  sweep.stop.iterations = 9;
  sweep.checkpoint.every = 1;
  begin(sweep);
  run_to_first_step(0);
  const double accuracy[] = {0.1, 0.9, 0.3, 0.4};
  for (int step = 1; step <= 4; ++step) {
    send(report(0, 1, step, accuracy[step - 1]));
    send(Saved{0, 1, step, {checkpoint_name(step), {}}});
  }
  EXPECT_EQ(only<CheckpointDropped>(journal),
            (std::vector<CheckpointDropped>{{0, "step-00000001"}, {0, "step-00000003"}}));
  ASSERT_EQ(state(0).held.size(), 2u);
}

TEST_F(TunerTest, RepeatsTheDeletionOfDroppedCheckpointsWhenResumed) {
  Sweep sweep = sweep_of(1);
  sweep.checkpoint.every = 1;
  begin(sweep);
  run_to_first_step(0);
  for (int step = 1; step <= 2; ++step) {
    send(report(0, 1, step, 0.1 * step));
    send(Saved{0, 1, step, {checkpoint_name(step), {}}});
  }
  auto again = Tuner::replay(sweep, journal);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->resume({}).commands, (Commands{DropCheckpoint{0, "step-00000001"}}));
}

class ProgramTest : public TunerTest {
 protected:
  static Sweep sweep() {
    Sweep sweep = sweep_of(2);
    sweep.trainable.clear();
    sweep.stop = {};
    return sweep;
  }
};

TEST_F(ProgramTest, RunsOnFreelyWithGapsInItsSteps) {
  begin(sweep());
  send(GangGranted{0});
  EXPECT_TRUE(send(RanksReady{0, 1}).empty());
  EXPECT_TRUE(send(report(0, 1, 0)).empty());
  EXPECT_TRUE(send(report(0, 1, 10)).empty());
  EXPECT_EQ(state(0).step, 10);
  EXPECT_EQ(state(0).reports, 2);
}

TEST_F(ProgramTest, CountsAStepSeenBefore) {
  begin(sweep());
  run_to_first_step(0);
  send(report(0, 1, 5));
  send(report(0, 1, 5));
  send(report(0, 1, 3));
  EXPECT_EQ(tuner->ignored().repeated, 2);
  EXPECT_EQ(only<Reported>(journal).size(), 1u);
}

TEST_F(ProgramTest, KeepsACheckpointNamedWithAStepSeenBefore) {
  begin(sweep());
  run_to_first_step(0);
  send(report(0, 1, 5));
  Report again = report(0, 1, 5);
  again.checkpoint = Checkpoint{"mine", {}};
  send(again);
  EXPECT_EQ(last, (std::vector<Record>{Checkpointed{0, 1, 5, {"mine", {}}}}));
}

TEST_F(ProgramTest, EndsByItself) {
  begin(sweep());
  run_to_first_step(0);
  EXPECT_EQ(send(Report{.trial = 0, .generation = 1, .finished = true}), (Commands{StopTrial{0, 1}}));
  EXPECT_EQ(state(0).ended, EndReason::ProgramEnded);
}

TEST_F(ProgramTest, SavesOnItsWayOutWhenTheSweepIsStopped) {
  begin(sweep());
  run_to_first_step(0);
  EXPECT_EQ(send(StopRequested{}), (Commands{StopTrial{0, 1}, ReleaseGang{1}}));
  send(report(0, 1, 7));
  EXPECT_EQ(state(0).step, 7);
  send(TrialStopped{.trial = 0, .generation = 1, .step = 7, .checkpoint = Checkpoint{"last", {}}});
  EXPECT_EQ(last, (std::vector<Record>{Checkpointed{0, 1, 7, {"last", {}}}}));
}

TEST_F(ProgramTest, IsStoppedByTheClockBetweenItsReports) {
  Sweep limited = sweep();
  limited.stop.seconds = 60;
  begin(limited);
  send(GangGranted{0});
  keep(tuner->handle(RanksReady{0, 1}, at(100s)));
  EXPECT_TRUE(keep(tuner->tick(at(159s))).empty());
  EXPECT_EQ(keep(tuner->tick(at(160s))), (Commands{StopTrial{0, 1}}));
  EXPECT_EQ(state(0).ended, EndReason::StopCondition);
}

}  // namespace
}  // namespace rt::tune
