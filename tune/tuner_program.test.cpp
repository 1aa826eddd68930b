#include "rt/tune/tuner_fixture.h"

namespace rt::tune {
namespace {

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
  Report last = report(0, 1, 7);
  last.checkpoint = Checkpoint{"last", {}};
  send(last);
  EXPECT_EQ(only<Reported>(journal).back().checkpoint, last.checkpoint);
  end(0, 1);
  EXPECT_EQ(state(0).step, 7);
  EXPECT_EQ(state(0).newest()->step, 7);
}

TEST_F(ProgramTest, LastReportsOfAStoppedSweepAreDecidedLikeAnyOther) {
  Sweep sweep = ProgramTest::sweep();
  sweep.asha = AshaOptions{.max_iter = 9};
  begin(sweep);
  run_to_first_step(0);
  send(StopRequested{});
  send(report(0, 1, 9));
  EXPECT_EQ(only<Reported>(last).at(0).verdict, Verdict::Complete);
  EXPECT_EQ(state(0).ended, EndReason::Completed);
  EXPECT_EQ(send(TrialStopped{.trial = 0, .generation = 1}), (Commands{ReleaseGang{0}, Finish{}}));
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
