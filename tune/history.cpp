#include "rt/tune/history.h"

#include <fmt/format.h>

#include <algorithm>

#include "rt/runtime/base/random.h"
#include "rt/tune/objective.h"

namespace rt::tune {
namespace {

Error corrupt(std::string what) { return {Code::Corrupt, std::move(what)}; }

EndReason end_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::Stop: return EndReason::StoppedByScheduler;
    case Verdict::Condition: return EndReason::StopCondition;
    case Verdict::Target: return EndReason::TargetReached;
    default: return EndReason::Completed;
  }
}

}  // namespace

std::uint64_t trial_seed(std::uint64_t sweep_seed, TrialIndex trial) {
  return split(~sweep_seed,
               static_cast<std::uint64_t>(trial));  // not the stream that random search draws the parameters from
}

History::History(Sweep sweep)
    : sweep_(std::move(sweep)), searcher_(make_searcher(sweep_)), scheduler_(make_scheduler(sweep_)) {}

Status History::apply(const Record& record) {
  if (!started_ && !std::holds_alternative<SweepStarted>(record)) return corrupt("no SweepStarted comes before it");
  if (ended_) return corrupt("it follows the sweep's end");
  return std::visit([this](const auto& fields) { return fold(fields); }, record);
}

Status History::fold(const SweepStarted& record) {
  if (started_) return corrupt("the sweep has started already");
  if (record.seed != sweep_.seed) {
    return corrupt(fmt::format("the journal is of a sweep with seed {}, not {}", record.seed, sweep_.seed));
  }
  started_ = record;
  return Unit{};
}

Status History::fold(const Resumed&) {
  interrupted_.reset();
  if (any_report_) {
    any_report_in_run_ = false;
    failed_in_run_ = 0;
  }
  return Unit{};
}

Status History::fold(const TrialCreated& record) {
  const auto expected = next_trial();
  if (!expected) return corrupt("the search has no further trial");
  if (record != *expected) {
    return corrupt(fmt::format("it records trial {} (seed {}) with {}, the search gives trial {} (seed {}) with {}",
                               record.id, record.seed, record.parameters, expected->id, expected->seed,
                               expected->parameters));
  }
  trials_.push_back({.index = record.trial, .id = record.id, .parameters = record.parameters, .seed = record.seed});
  open_.insert(record.trial);
  return Unit{};
}

Status History::fold(const GenerationStarted& record) {
  RT_TRY(trial, find_open(record.trial, record.generation - 1));
  const HeldCheckpoint* newest = trial->newest();
  const std::string restore = newest ? newest->checkpoint.name : "";
  if (record.restore != restore || record.restore_step != (newest ? newest->step : 0)) {
    return corrupt(fmt::format("it goes on from checkpoint '{}' of step {}, the newest is '{}'", record.restore,
                               record.restore_step, restore));
  }
  trial->generation = record.generation;
  return Unit{};
}

Result<Reported> History::report(Reported draft) {
  RT_TRY(trial, find_open(draft.trial, draft.generation));
  draft.verdict = judge(draft);
  accept(*trial, draft);
  return draft;
}

Status History::fold(const Reported& record) {
  RT_TRY(trial, find_open(record.trial, record.generation));
  if (trial->has_reported(record.step)) {
    return corrupt(fmt::format("step {} was reported before, the last was {}", record.step, trial->step));
  }
  if (trial->owed_end) return corrupt(fmt::format("the trial's end ({}) is decided", to_string(*trial->owed_end)));
  const Verdict verdict = judge(record);
  if (verdict != record.verdict) {
    return corrupt(fmt::format("at step {} it decided '{}', the same report now gives '{}'", record.step,
                               to_string(record.verdict), to_string(verdict)));
  }
  accept(*trial, record);
  return Unit{};
}

// The scheduler sees every report with a value, also one that a limit ends: its value belongs into the rung.
Verdict History::judge(const Reported& report) {
  const auto value = objective_of(sweep_, report.metrics);
  const bool is_stopped = value && scheduler_->on_report(report.trial, report.step, *value) == Decision::Stop;
  const Verdict limits = limits_of(sweep_, report);
  if (limits != Verdict::Continue) return limits;
  return is_stopped ? Verdict::Stop : Verdict::Continue;
}

void History::accept(TrialState& trial, const Reported& report) {
  any_report_ = any_report_in_run_ = true;
  ++trial.reports;
  trial.losses = 0;
  trial.step = report.step;
  trial.metrics = report.metrics;
  trial.seconds = report.seconds;
  trial.value = objective_of(sweep_, report.metrics);
  if (trial.value && is_better(*trial.value, trial.best, sweep_.metric->goal)) {
    trial.best = trial.value;
    trial.best_step = report.step;
  }
  if (report.checkpoint) hold(trial, {*report.checkpoint, report.step, trial.value});
  if (report.verdict == Verdict::Continue) return;
  trial.owed_end = end_of(report.verdict);
  if (report.verdict == Verdict::Target) target_reached_ = true;
}

Status History::fold(const Checkpointed& record) {
  RT_TRY(trial, find_open(record.trial, record.generation));
  hold(*trial, {record.checkpoint, record.step, std::nullopt});
  return Unit{};
}

Status History::fold(const RankFailed& record) {
  RT_TRY(trial, find_open(record.trial, record.generation));
  if (record.uncharged) {
    if (record.final || ++trial->losses > RankFailed::kUncharged)
      return corrupt(fmt::format("only {} failures in a row are uncharged, and none is final", RankFailed::kUncharged));
    return Unit{};
  }
  ++trial->failures;
  trial->last_failure = record;
  if (!record.final && trial->failures > sweep_.max_failures) {
    return corrupt(
        fmt::format("failure {} is to be tried again, max_failures is {}", trial->failures, sweep_.max_failures));
  }
  if (record.final) trial->owed_end = EndReason::Failed;
  return Unit{};
}

Status History::fold(const TrialEnded& record) {
  RT_TRY(trial, find(record.trial));
  RT_CHECK(find_open(record.trial, trial->generation));
  if (trial->owed_end && *trial->owed_end != record.reason) {
    return corrupt(
        fmt::format("the trial ends as '{}', decided was '{}'", to_string(record.reason), to_string(*trial->owed_end)));
  }
  trial->ended = record.reason;
  trial->owed_end.reset();
  open_.erase(record.trial);
  if (record.reason == EndReason::Failed) ++failed_in_run_;
  if (record.reason == EndReason::ProgramEnded)
    any_report_ = any_report_in_run_ = true;  // it ran, though it said nothing
  return Unit{};
}

Status History::fold(const CheckpointDropped& record) {
  RT_TRY(trial, find(record.trial));
  const auto found = std::ranges::find(trial->held, record.name, [](const auto& held) { return held.checkpoint.name; });
  if (found == trial->held.end()) return corrupt(fmt::format("the trial holds no checkpoint '{}'", record.name));
  trial->held.erase(found);
  trial->dropped.insert(record.name);
  if (best_checkpoint_ && best_checkpoint_->trial == record.trial && best_checkpoint_->name == record.name)
    find_best_again();
  return Unit{};
}

Status History::fold(const Interrupted& record) {
  interrupted_ = record;
  return Unit{};
}

Status History::fold(const SweepEnded& record) {
  if (!open_.empty()) return corrupt(fmt::format("{} trials have not ended", open_.size()));
  ended_ = record;
  return Unit{};
}

Result<TrialState*> History::find(TrialIndex trial) {
  if (trial < 0 || trial >= static_cast<TrialIndex>(trials_.size())) {
    return corrupt(fmt::format("trial {} was never created, there are {}", trial, trials_.size()));
  }
  return &trials_[trial];
}

Result<TrialState*> History::find_open(TrialIndex trial, int generation) {
  RT_TRY(state, find(trial));
  if (state->ended) return corrupt(fmt::format("the trial has ended ({})", to_string(*state->ended)));
  if (state->generation != generation) {
    return corrupt(fmt::format("it is of generation {}, the trial is in {}", generation, state->generation));
  }
  return state;
}

std::optional<TrialCreated> History::next_trial() const {
  if (is_ending()) return std::nullopt;
  const auto trial = static_cast<TrialIndex>(trials_.size());
  const auto parameters = searcher_->suggest(trial);
  if (!parameters) return std::nullopt;
  return TrialCreated{trial, trial_id(trial), parameters->dump(), trial_seed(sweep_.seed, trial)};
}

bool History::is_milestone(std::int64_t step) const { return scheduler_->next_rung(step - 1) == step; }

std::optional<TrialIndex> History::best_trial() const {
  std::optional<TrialIndex> best;
  std::optional<double> value;
  for (const TrialState& trial : trials_) {
    if (!trial.best || !is_better(*trial.best, value, sweep_.metric->goal)) continue;
    best = trial.index;
    value = trial.best;
  }
  return best;
}

std::optional<Record> History::owed() {
  if (!started_ || ended_) return std::nullopt;
  if (auto end = owed_end()) return end;
  if (auto drop = owed_drop()) return drop;
  if (!open_.empty() || next_trial()) return std::nullopt;
  std::string cause;
  if (target_reached_) cause = "the target was reached";
  if (is_hopeless() && !any_report_) {
    cause = fmt::format("{} trials failed and none ever made a report: the program or its command is wrong",
                        failed_in_run_);
  }
  return SweepEnded{best_trial(), std::move(cause)};
}

std::optional<Record> History::owed_end() const {
  for (TrialIndex trial : open_) {
    if (trials_[trial].owed_end) return TrialEnded{trial, *trials_[trial].owed_end};
  }
  if (!is_ending() || open_.empty()) return std::nullopt;
  return TrialEnded{*open_.begin(), target_reached_ ? EndReason::TargetElsewhere : EndReason::GivenUp};
}

}  // namespace rt::tune
