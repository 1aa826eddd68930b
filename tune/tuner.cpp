#include "rt/tune/tuner.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "rt/tune/objective.h"

namespace rt::tune {
namespace {

double seconds_between(TimePoint from, TimePoint to) { return std::chrono::duration<double>(to - from).count(); }

}  // namespace

std::string checkpoint_name(std::int64_t step) { return fmt::format("step-{:08}", step); }

Tuner::Tuner(Sweep sweep) : history_(std::move(sweep)) {}

Result<Tuner> Tuner::replay(Sweep sweep, std::span<const Record> records) {
  Tuner tuner(std::move(sweep));
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Status applied = tuner.history_.apply(records[i]);
    if (applied) continue;
    return Error{Code::Corrupt, fmt::format("record {} of the sweep's journal ({}) doesn't fit: {}", i + 1,
                                            describe(records[i]), applied.error().message)};
  }
  return tuner;
}

Outcome Tuner::start(SweepStarted started) {
  commit(std::move(started));
  return finish_outcome();
}

Outcome Tuner::resume(Resumed resumed) {
  if (!history_.ended()) commit(std::move(resumed));
  for (const TrialState& trial : history_.trials()) {
    for (const std::string& name : trial.dropped) outcome_.commands.emplace_back(DropCheckpoint{trial.index, name});
  }
  return finish_outcome();
}

Outcome Tuner::handle(const Event& event, TimePoint now) {
  std::visit([&](const auto& fields) { on(fields, now); }, event);
  return finish_outcome();
}

Outcome Tuner::tick(TimePoint now) {
  const auto& limit = history_.sweep().stop.seconds;
  if (!limit || !is_program()) return {};
  for (const auto& [trial, gang] : gangs_) {
    if (gang.phase != Phase::Running || state(trial).ended) continue;
    if (state(trial).seconds + seconds_between(gang.counted_until, now) < *limit) continue;
    commit(TrialEnded{trial, EndReason::StopCondition});
  }
  return finish_outcome();
}

void Tuner::on(const SlotsChanged& event, TimePoint) { slots_ = event.slots; }

void Tuner::on(const GangGranted& event, TimePoint) {
  const auto found = gangs_.find(event.trial);
  if (found == gangs_.end()) {
    ++ignored_.stale;
    outcome_.commands.emplace_back(ReleaseGang{event.trial});  // it was taken back while it was on its way
  } else if (found->second.phase != Phase::Requested) {
    ++ignored_.stale;
  } else {
    launch(event.trial, found->second);
  }
}

void Tuner::on(const LeaseRefused& event, TimePoint) { interrupt(event.reason); }

void Tuner::on(const StopRequested&, TimePoint) { interrupt("stopped by the user"); }

void Tuner::interrupt(std::string cause) {
  if (!is_winding_down()) commit(Interrupted{std::move(cause)});
}

void Tuner::on(const RanksReady& event, TimePoint now) {
  Gang* gang = find(event.trial, event.generation);
  if (!gang) return;
  if (gang->phase != Phase::Launching) {
    ++ignored_.stale;
    return;
  }
  gang->phase = Phase::Running;
  gang->counted_until = now;
}

void Tuner::on(const Report& event, TimePoint now) {
  Gang* gang = find(event.trial, event.generation);
  if (!gang) return;
  if (is_program()) return on_program_report(*gang, event, now);
  if (gang->phase == Phase::Running && gang->is_stepping && event.step == gang->done + 1) {
    return on_step_done(*gang, event, now);
  }
  ++ignored_.stale;
}

void Tuner::on_step_done(Gang& gang, const Report& report, TimePoint now) {
  const bool is_recorded = state(report.trial).has_reported(report.step);
  gang.is_stepping = false;
  gang.done = report.step;
  if (!is_recorded && fail_without_metric(report)) return;

  std::optional<Reported> draft;
  if (!is_recorded) {
    draft = draft_of(gang, report, now);
    gang.counted_until = now;
  }
  if (draft ? wants_save(*draft) : history_.is_interrupted()) {
    gang.phase = Phase::Saving;
    gang.draft = std::move(draft);
    outcome_.commands.emplace_back(Save{report.trial, report.step, checkpoint_name(report.step)});
  } else if (draft) {
    commit_report(std::move(*draft));
  }
}

bool Tuner::wants_save(const Reported& draft) const {
  const auto& every = history_.sweep().checkpoint.every;
  return history_.is_interrupted() || history_.is_milestone(draft.step) || (every && draft.step % *every == 0) ||
         limits_of(history_.sweep(), draft) != Verdict::Continue;
}

Reported Tuner::draft_of(const Gang& gang, const Report& report, TimePoint now) const {
  return {.trial = report.trial,
          .generation = report.generation,
          .step = report.step,
          .metrics = report.metrics,
          .checkpoint = report.checkpoint,
          .seconds = state(report.trial).seconds + seconds_between(gang.counted_until, now)};
}

void Tuner::on_program_report(Gang& gang, const Report& report, TimePoint now) {
  const bool is_leaving = gang.phase == Phase::Stopping && history_.is_interrupted();
  if (state(report.trial).ended || (gang.phase != Phase::Running && !is_leaving)) {
    ++ignored_.stale;
    return;
  }
  const bool is_repeated = state(report.trial).has_reported(report.step);
  if (report.metrics.empty() || is_repeated) {
    if (!report.metrics.empty()) ++ignored_.repeated;
    if (report.checkpoint) keep_checkpoint(report.trial, report.generation, report.step, *report.checkpoint);
  } else if (!fail_without_metric(report)) {
    commit_report(draft_of(gang, report, now));
    gang.counted_until = now;
  }
  settle();
  if (report.finished && !is_leaving && !state(report.trial).ended) {
    commit(TrialEnded{report.trial, EndReason::ProgramEnded});
  }
}

bool Tuner::fail_without_metric(const Report& report) {
  const Sweep& sweep = history_.sweep();
  if (!needs_metric(sweep) || objective_of(sweep, report.metrics)) return false;
  commit(RankFailed{.trial = report.trial,
                    .generation = report.generation,
                    .cause = missing_metric(sweep, report.step, report.metrics),
                    .final = true});
  return true;
}

void Tuner::keep_checkpoint(TrialIndex trial, int generation, std::int64_t step, const Checkpoint& checkpoint) {
  const HeldCheckpoint* newest = state(trial).newest();
  if (newest && step < newest->step) {
    ++ignored_.repeated;
    return;
  }
  commit(Checkpointed{trial, generation, step, checkpoint});
}

void Tuner::on(const Saved& event, TimePoint) {
  Gang* gang = find(event.trial, event.generation);
  if (!gang) return;
  if (gang->phase != Phase::Saving || event.step != gang->done) {
    ++ignored_.stale;
    return;
  }
  gang->phase = Phase::Running;
  if (gang->draft) {
    Reported draft = *std::exchange(gang->draft, std::nullopt);
    draft.checkpoint = event.checkpoint;
    commit_report(std::move(draft));
  } else {
    keep_checkpoint(event.trial, event.generation, event.step, event.checkpoint);
  }
}

void Tuner::on(const RankDied& event, TimePoint) {
  Gang* gang = find(event.trial, event.generation);
  if (!gang) return;
  if (gang->phase == Phase::Stopping) {
    ++ignored_.stale;
  } else {
    // Bounded: a program that ends its fork server, or its store, again and again must fail in the end.
    const bool is_uncharged = event.rt_lost && state(event.trial).losses < RankFailed::kUncharged;
    commit(RankFailed{.trial = event.trial,
                      .generation = event.generation,
                      .rank = event.rank,
                      .cause = event.cause,
                      .log_tail = event.log_tail,
                      .final = !is_uncharged && state(event.trial).failures >= history_.sweep().max_failures,
                      .uncharged = is_uncharged});
    gang->phase = Phase::Stopping;
    if (!event.gang_lost) outcome_.commands.emplace_back(StopTrial{event.trial, event.generation});
  }
  if (event.gang_lost) gangs_.erase(event.trial);
}

// No failure of the trial: it goes on from an older checkpoint, or from its start.
void Tuner::on(const CheckpointLost& event, TimePoint) {
  Gang* gang = find(event.trial, event.generation);
  if (!gang) return;
  if (gang->phase != Phase::Launching) {
    ++ignored_.stale;
    return;
  }
  commit(CheckpointDropped{event.trial, event.name, event.cause});
  if (!is_winding_down()) launch(event.trial, *gang);
}

void Tuner::on(const TrialStopped& event, TimePoint) {
  Gang* gang = find(event.trial, event.generation);
  if (!gang) return;
  if (gang->phase != Phase::Stopping) {
    ++ignored_.stale;
    return;
  }
  const bool is_open = !state(event.trial).ended;
  if (is_open && !is_winding_down()) return launch(event.trial, *gang);
  outcome_.commands.emplace_back(ReleaseGang{event.trial});
  gangs_.erase(event.trial);
}

void Tuner::launch(TrialIndex trial, Gang& gang) {
  const HeldCheckpoint* newest = state(trial).newest();
  const std::string restore = newest ? newest->checkpoint.name : "";
  const std::int64_t step = newest ? newest->step : 0;
  gang = {.phase = Phase::Launching, .generation = state(trial).generation + 1, .done = step};
  commit(GenerationStarted{trial, gang.generation, restore, step});
  outcome_.commands.emplace_back(Launch{trial, gang.generation, restore, step});
}

Tuner::Gang* Tuner::find(TrialIndex trial, int generation) {
  const auto found = gangs_.find(trial);
  if (found != gangs_.end() && found->second.generation == generation && found->second.phase != Phase::Requested) {
    return &found->second;
  }
  ++ignored_.stale;
  return nullptr;
}

bool Tuner::is_running(TrialIndex trial) const {
  const auto found = gangs_.find(trial);
  return found != gangs_.end() && found->second.phase != Phase::Requested;
}

std::size_t Tuner::running() const {
  return std::ranges::count_if(gangs_, [](const auto& entry) { return entry.second.phase != Phase::Requested; });
}

}  // namespace rt::tune
