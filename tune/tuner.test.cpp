#include <cmath>

#include "rt/tune/tuner_fixture.h"

namespace rt::tune {
namespace {

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

}  // namespace
}  // namespace rt::tune
