#include "rt/tune/tuner_fixture.h"

namespace rt::tune {
namespace {

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

TEST_F(TunerTest, GoesOnFromAnOlderCheckpointOrTheStartWhereOneIsLostAndChargesNobody) {
  Sweep sweep = sweep_of(1);
  sweep.max_failures = 1;
  sweep.checkpoint.every = 1;
  sweep.checkpoint.keep = 2;
  begin(sweep);
  run_to_first_step(0);
  for (int step = 1; step <= 2; ++step) {
    send(report(0, 1, step));
    send(Saved{0, 1, step, {"step-0000000" + std::to_string(step), {}}});
  }
  send(RankDied{.trial = 0, .generation = 1, .cause = "signal 9"});
  EXPECT_EQ(send(TrialStopped{.trial = 0, .generation = 1}), (Commands{Launch{0, 2, "step-00000002", 2}}));
  EXPECT_EQ(send(CheckpointLost{0, 2, "step-00000002", "damaged"}),
            (Commands{DropCheckpoint{0, "step-00000002"}, Launch{0, 3, "step-00000001", 1}}));
  EXPECT_EQ(last.at(0), (Record{CheckpointDropped{0, "step-00000002", "damaged"}}));
  EXPECT_EQ(send(CheckpointLost{0, 2, "step-00000001", "of a generation before"}), Commands{});
  EXPECT_EQ(send(CheckpointLost{0, 3, "step-00000001", "gone"}),
            (Commands{DropCheckpoint{0, "step-00000001"}, Launch{0, 4, "", 0}}));
  EXPECT_EQ(tuner->history().trials().at(0).failures, 1);
  EXPECT_EQ(send(RanksReady{0, 4}), (Commands{Step{0, 1}}));
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

TEST_F(TunerTest, IsNotChargedWithTheLossOfRtsOwnProcess) {
  begin(sweep_of(1));  // max_failures: 0
  run_to_first_step(0);
  const RankDied lost{.trial = 0, .generation = 1, .cause = "fork server lost", .rt_lost = true};
  EXPECT_EQ(send(lost), (Commands{StopTrial{0, 1}}));
  EXPECT_EQ(state(0).failures, 0);
  EXPECT_EQ(send(TrialStopped{.trial = 0, .generation = 1}), (Commands{Launch{0, 2, "", 0}}));
  EXPECT_TRUE(Tuner::replay(sweep_of(1), journal));
}

TEST_F(TunerTest, IsChargedOnceItsForkServerIsLostAFourthTimeWithoutAReport) {
  begin(sweep_of(1));
  run_to_first_step(0);
  int generation = 1;
  const auto lose = [&] {
    send(RankDied{.trial = 0, .generation = generation, .cause = "fork server lost", .rt_lost = true});
  };
  const auto begin_again = [&] {
    end(0, generation);
    send(RanksReady{0, ++generation});
  };
  lose();
  begin_again();
  send(report(0, 2, 1));  // from here it counts anew
  for (int loss = 0; loss < 3; ++loss) {
    lose();
    begin_again();
  }
  EXPECT_EQ(state(0).ended, std::nullopt);
  lose();
  EXPECT_EQ(state(0).ended, EndReason::Failed);
  EXPECT_EQ(state(0).failures, 1);
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

TEST_F(TunerTest, IsInterruptedWhereAllFailsFromAResumeOn) {
  begin(sweep_of(100));
  run_to_first_step(0);
  send(report(0, 1, 1));
  auto again = Tuner::replay(sweep_of(100), journal);
  ASSERT_TRUE(again) << again.error().message;
  tuner = *std::move(again);
  keep(tuner->resume({}));
  send(SlotsChanged{1});
  for (TrialIndex trial = 0; trial < 3; ++trial) {
    EXPECT_FALSE(tuner->history().is_interrupted());
    const int generation = trial == 0 ? 2 : 1;
    send(GangGranted{trial});
    send(RankDied{.trial = trial, .generation = generation, .cause = "exit code 127"});
    end(trial, generation);
  }
  EXPECT_TRUE(tuner->history().is_interrupted());
  EXPECT_FALSE(tuner->history().ended());
  EXPECT_EQ(only<Interrupted>(journal).at(0).cause,
            "3 trials failed and none has made a report since the sweep was resumed: is the program still right?");
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

TEST_F(TunerTest, StopsAndSaysWhyWhereItsGangsCanNeverBePlaced) {
  begin(sweep_of(3));
  send(LeaseRefused{"4 GPUs a rank are asked for, the cluster has 3"});
  ASSERT_TRUE(tuner->history().interrupted());
  EXPECT_EQ(tuner->history().interrupted()->cause, "4 GPUs a rank are asked for, the cluster has 3");
}

}  // namespace
}  // namespace rt::tune
