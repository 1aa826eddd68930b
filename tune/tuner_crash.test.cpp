// A sweep killed at any record of its journal, in any of three moments, ends as the undisturbed one does.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "rt/tune/simulation.h"

namespace rt::tune {
namespace {

using nlohmann::ordered_json;
using Moment = Kill::Moment;

Space one_parameter(int values) {
  Categorical choices;
  for (int i = 0; i < values; ++i) choices.values.emplace_back(i);
  return {Parameter{"x", Distribution{choices}}};
}

Sweep grid_sweep() {
  Sweep sweep;
  sweep.trainable = "Curve";
  sweep.method = Method::Grid;
  sweep.space = one_parameter(5);
  sweep.metric = Metric{.name = "score", .goal = Goal::Maximize};
  sweep.stop.iterations = 5;
  sweep.checkpoint.every = 2;
  sweep.seed = 7;
  return sweep;
}

Sweep asha_sweep() {
  Sweep sweep = grid_sweep();
  sweep.method = Method::Random;
  sweep.space = {Parameter{"x", Distribution{Uniform{0, 4}}}};
  sweep.run_cap = 12;
  sweep.stop = {};
  sweep.checkpoint = {};
  sweep.asha = AshaOptions{.min_iter = 1, .max_iter = 9, .eta = 3};
  return sweep;
}

double rising(const TrialState& trial, std::int64_t step) {
  const double x = ordered_json::parse(trial.parameters)["x"].get<double>();
  return std::sin(3 * x) * (1 - std::exp(-0.3 * static_cast<double>(step)));
}

double rising_with_gaps(const TrialState& trial, std::int64_t step) {
  const bool is_lost = trial.index % 3 == 1 || (trial.index % 3 == 2 && step == 3);
  return is_lost ? std::numeric_limits<double>::quiet_NaN() : rising(trial, step);
}

struct Case {
  std::string name;
  Scenario scenario;
};

Scenario flaky() {
  Scenario scenario{.sweep = asha_sweep(), .curve = rising};
  scenario.sweep.max_failures = 2;
  scenario.sweep.checkpoint.every = 4;
  // Trial 1 dies whenever it reaches step 3; each trial dies the first time in its step 2.
  scenario.dies = [](TrialIndex trial, std::int64_t step, int time) {
    return (trial == 1 && step == 3) || (step == 2 && time == 1 && trial % 2 == 0);
  };
  return scenario;
}

Scenario program(std::int64_t saves_every) {
  Scenario scenario{.sweep = asha_sweep(), .curve = rising};
  scenario.sweep.trainable.clear();
  scenario.program_steps = {1, 2, 4, 6, 7, 12};
  scenario.program_saves_every = saves_every;
  scenario.program_lead = 2;
  return scenario;
}

Scenario program_that_ends() {
  Scenario scenario = program(2);
  scenario.sweep.asha.reset();
  return scenario;
}

Scenario with_target() {
  Scenario scenario{.sweep = asha_sweep(), .curve = rising};
  scenario.sweep.metric->target = 0.8;
  return scenario;
}

std::vector<Case> cases() {
  return {
      {"Grid", {.sweep = grid_sweep(), .curve = rising}},
      {"RandomAsha", {.sweep = asha_sweep(), .curve = rising}},
      {"AnswersRepeated", {.sweep = asha_sweep(), .curve = rising, .repeats_answers = true}},
      {"Nan", {.sweep = asha_sweep(), .curve = rising_with_gaps}},
      {"Failures", flaky()},
      {"Target", with_target()},
      {"ProgramsWithCheckpoints", program(2)},
      {"ProgramsWithoutCheckpoints", program(0)},
      {"ProgramsThatEnd", program_that_ends()},
  };
}

class SweepKilled : public ::testing::TestWithParam<Case> {};

std::string where(const Kill& kill) {
  return "killed at record " + std::to_string(kill.records) + ", moment " +
         std::to_string(static_cast<int>(kill.moment));
}

// What the disk has and what the history holds: the same, but for what a kill left half done outside any record.
void expect_kept_checkpoints_lie_there(const Simulation& simulation) {
  for (const TrialState& trial : simulation.history().trials()) {
    for (const HeldCheckpoint& held : trial.held) {
      EXPECT_TRUE(simulation.disk().contains({trial.index, held.checkpoint.name})) << trial.id;
    }
    for (const std::string& name : trial.dropped) EXPECT_FALSE(simulation.disk().contains({trial.index, name}));
  }
}

TEST_P(SweepKilled, AtAnyRecordDecidesWhatTheUndisturbedOneDecides) {
  Simulation undisturbed(GetParam().scenario);
  ASSERT_TRUE(undisturbed.run());
  ASSERT_EQ(undisturbed.errors(), std::vector<std::string>{});
  ASSERT_TRUE(undisturbed.history().ended());
  const auto expected = decisions(undisturbed.journal());

  for (std::size_t records = 1; records <= undisturbed.journal().size(); ++records) {
    for (Moment moment : {Moment::AtRecord, Moment::AfterCommands, Moment::BeforeNext}) {
      const Kill kill{records, moment};
      SCOPED_TRACE(where(kill));
      Simulation simulation(GetParam().scenario);
      simulation.run(kill);
      ASSERT_TRUE(simulation.run());
      ASSERT_EQ(decisions(simulation.journal()), expected);
      ASSERT_EQ(simulation.errors(), std::vector<std::string>{});
      expect_kept_checkpoints_lie_there(simulation);
    }
  }
}

TEST_P(SweepKilled, AgainAndAgainStillGetsThere) {
  Simulation undisturbed(GetParam().scenario);
  ASSERT_TRUE(undisturbed.run());

  Simulation simulation(GetParam().scenario);
  std::size_t kills = 0;
  for (std::size_t records = 3; !simulation.run(Kill{records, Moment::BeforeNext}) && kills < 1000; ++kills) {
    records = simulation.journal().size() + 5;
  }
  EXPECT_GT(kills, 3u);
  EXPECT_EQ(decisions(simulation.journal()), decisions(undisturbed.journal()));
  EXPECT_EQ(simulation.errors(), std::vector<std::string>{});
}

// A stop takes a checkpoint where the undisturbed sweep has none.
std::vector<std::string> without_checkpoints(std::vector<std::string> decisions) {
  for (std::string& line : decisions) line.erase(std::min(line.find('['), line.size()));
  return decisions;
}

TEST_P(SweepKilled, InterruptedAtAnyEventGoesOnAsIfNothingHadHappened) {
  Simulation undisturbed(GetParam().scenario);
  ASSERT_TRUE(undisturbed.run());

  for (int events = 1; events < undisturbed.events(); ++events) {
    SCOPED_TRACE("interrupted after event " + std::to_string(events));
    Simulation simulation(GetParam().scenario);
    simulation.interrupt_after(events);
    ASSERT_TRUE(simulation.run());
    if (!simulation.history().ended()) {
      ASSERT_TRUE(simulation.history().is_interrupted());
      ASSERT_TRUE(simulation.run());
    }
    ASSERT_TRUE(simulation.history().ended());
    EXPECT_EQ(without_checkpoints(decisions(simulation.journal())),
              without_checkpoints(decisions(undisturbed.journal())));
    EXPECT_EQ(simulation.errors(), std::vector<std::string>{});
  }
}

void expect_each_trial_ended_once(const Simulation& simulation) {
  std::map<TrialIndex, int> ends;
  for (const Record& record : simulation.journal()) {
    if (const auto* end = std::get_if<TrialEnded>(&record)) ++ends[end->trial];
  }
  EXPECT_EQ(ends.size(), simulation.history().trials().size());
  for (const auto& [trial, count] : ends) EXPECT_EQ(count, 1) << trial;
}

TEST_P(SweepKilled, WithSeveralSlotsLosesNoTrialAndEndsEachOnce) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Scenario scenario = GetParam().scenario;
    scenario.slots = 2 + static_cast<int>(seed % 4);
    scenario.shuffle = seed;
    Simulation simulation(scenario);
    std::size_t at = 2 + seed % 7;
    while (!simulation.run(Kill{at, static_cast<Moment>(seed % 3)})) {
      ASSERT_EQ(simulation.errors(), std::vector<std::string>{});
      at = simulation.journal().size() + 9;
    }
    EXPECT_EQ(simulation.errors(), std::vector<std::string>{});
    ASSERT_TRUE(simulation.history().ended());
    expect_each_trial_ended_once(simulation);
    expect_kept_checkpoints_lie_there(simulation);
    if (!scenario.sweep.metric->target) {
      EXPECT_EQ(static_cast<std::int64_t>(simulation.history().trials().size()), simulation.history().planned_trials());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sweeps, SweepKilled, testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace rt::tune
