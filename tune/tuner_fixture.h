#pragma once
// TunerTest: a tuner driven by hand, one event a second, with its journal kept.

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "rt/tune/tuner.h"

namespace rt::tune {

using namespace std::chrono_literals;
using Commands = std::vector<Command>;

constexpr TimePoint at(std::chrono::seconds since_start) { return TimePoint{} + since_start; }

// A grid of so many trials of a trainable, four steps each.
inline Sweep sweep_of(int trials) {
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

inline Report report(TrialIndex trial, int generation, std::int64_t step, double accuracy = 0.5) {
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

}  // namespace rt::tune
