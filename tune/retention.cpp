// The part of History that says which checkpoints are kept: the newest `keep` of each trial and the best of the sweep.
#include <algorithm>

#include "rt/tune/history.h"
#include "rt/tune/objective.h"

namespace rt::tune {

void History::hold(TrialState& trial, HeldCheckpoint held) {
  const std::string name = held.checkpoint.name;
  std::erase_if(trial.held, [&](const HeldCheckpoint& other) { return other.checkpoint.name == name; });
  trial.dropped.erase(name);
  trial.held.push_back(std::move(held));
  to_prune_.insert(trial.index);

  const bool is_best_overwritten =
      best_checkpoint_ && best_checkpoint_->trial == trial.index && best_checkpoint_->name == name;
  if (!is_best_overwritten) return consider_best(trial, trial.held.back());
  find_best_again();
}

void History::find_best_again() {
  best_checkpoint_.reset();
  for (const TrialState& trial : trials_) {
    for (const HeldCheckpoint& candidate : trial.held) consider_best(trial, candidate);
  }
}

void History::consider_best(const TrialState& trial, const HeldCheckpoint& held) {
  if (!held.value || !(*held.value == *held.value)) return;
  if (best_checkpoint_) {
    const bool is_tie_of_lower = *held.value == best_checkpoint_->value && trial.index < best_checkpoint_->trial;
    if (!is_tie_of_lower && !is_better(*held.value, best_checkpoint_->value, sweep_.metric->goal)) return;
    to_prune_.insert(best_checkpoint_->trial);
  }
  best_checkpoint_ = BestCheckpoint{trial.index, held.checkpoint.name, *held.value};
}

std::optional<std::string> History::surplus(const TrialState& trial) const {
  const auto keep = static_cast<std::size_t>(std::max(1, sweep_.checkpoint.keep));
  for (std::size_t i = 0; i + keep < trial.held.size(); ++i) {
    const std::string& name = trial.held[i].checkpoint.name;
    const bool is_best = best_checkpoint_ && best_checkpoint_->trial == trial.index && best_checkpoint_->name == name;
    if (!is_best) return name;
  }
  return std::nullopt;
}

std::optional<Record> History::owed_drop() {
  while (!to_prune_.empty()) {
    const TrialIndex trial = *to_prune_.begin();
    if (auto name = surplus(trials_[trial])) return CheckpointDropped{trial, std::move(*name)};
    to_prune_.erase(trial);
  }
  return std::nullopt;
}

}  // namespace rt::tune
