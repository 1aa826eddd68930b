// The part of the Tuner that follows from its state alone: records that are owed, commands that are due. It runs after
// every event, and is all that a resumed sweep needs to go on.
#include <string>
#include <utility>

#include "rt/tune/tuner.h"

namespace rt::tune {
namespace {

// The tuner makes only records that fit its own history; one that doesn't is a defect here.
template <class T>
T sound(Result<T> result) {
  return std::move(result).get();
}

}  // namespace

void Tuner::commit(Record record) {
  sound(history_.apply(record));
  if (const auto* dropped = std::get_if<CheckpointDropped>(&record)) {
    outcome_.commands.emplace_back(DropCheckpoint{dropped->trial, dropped->name});
  }
  outcome_.records.push_back(std::move(record));
}

void Tuner::commit_report(Reported draft) { outcome_.records.push_back(sound(history_.report(std::move(draft)))); }

void Tuner::settle() {
  while (auto record = history_.owed()) commit(std::move(*record));
  if (history_.is_hopeless() && !history_.ended())
    interrupt(std::to_string(kHopelessTrials) +
              " trials failed and none has made a report since the sweep was resumed: is the program still right?");
}

void Tuner::pursue() {
  for (auto next = gangs_.begin(); next != gangs_.end();) {
    const auto here = next++;  // pursue may erase it
    pursue(here->first, here->second);
  }
  if (!is_winding_down() && !history_.is_ending()) fill_slots();
  if (gangs_.empty() && is_winding_down() && !std::exchange(is_finished_, true)) {
    outcome_.commands.emplace_back(Finish{});
  }
}

void Tuner::pursue(TrialIndex trial, Gang& gang) {
  const bool has_ended = state(trial).ended.has_value();
  const bool is_idle = gang.phase == Phase::Running && !gang.is_stepping && !is_program();
  const bool can_stop_at_once = gang.phase == Phase::Launching || is_idle || is_program();
  if (gang.phase == Phase::Stopping) return;
  if (gang.phase == Phase::Requested) {
    if (!has_ended && !is_winding_down()) return;
    outcome_.commands.emplace_back(ReleaseGang{trial});
    gangs_.erase(trial);
  } else if (has_ended || (is_winding_down() && can_stop_at_once)) {
    gang.phase = Phase::Stopping;
    outcome_.commands.emplace_back(StopTrial{trial, gang.generation});
  } else if (is_idle) {
    gang.is_stepping = true;
    outcome_.commands.emplace_back(Step{trial, gang.done + 1});
  }
}

// One gang more than there are slots is asked for, so that a slot that comes free is never without a request.
void Tuner::fill_slots() {
  while (slots_ && static_cast<int>(gangs_.size()) < *slots_ + 1) {
    const auto trial = next_to_request();
    if (!trial) return;
    gangs_[*trial] = Gang{};
    outcome_.commands.emplace_back(RequestGang{*trial});
  }
}

std::optional<TrialIndex> Tuner::next_to_request() {
  for (TrialIndex trial : history_.open_trials()) {
    if (!gangs_.contains(trial)) return trial;
  }
  auto created = history_.next_trial();
  if (!created) return std::nullopt;
  const TrialIndex trial = created->trial;
  commit(std::move(*created));
  return trial;
}

Outcome Tuner::finish_outcome() {
  settle();
  pursue();
  return std::exchange(outcome_, {});
}

}  // namespace rt::tune
