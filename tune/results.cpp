#include "rt/tune/results.h"

#include "rt/tune/objective.h"

namespace rt::tune {
namespace {

std::string state_of(const TrialState& trial, const std::function<bool(TrialIndex)>& is_running) {
  if (trial.ended) {
    switch (*trial.ended) {
      case EndReason::Failed: return "failed";
      case EndReason::StoppedByScheduler:
      case EndReason::TargetElsewhere:
      case EndReason::GivenUp: return "stopped";
      default: return "completed";
    }
  }
  if (is_running && is_running(trial.index)) return "running";
  return trial.generation == 0 || is_running ? "waiting" : "unfinished";
}

const HeldCheckpoint* best_checkpoint(const TrialState& trial, const Sweep& sweep) {
  const HeldCheckpoint* best = trial.newest();
  for (const HeldCheckpoint& held : trial.held) {
    if (held.value && sweep.metric && is_better(*held.value, best->value, sweep.metric->goal)) best = &held;
  }
  return best;
}

Row row_of(const TrialState& trial, const History& history, const std::function<bool(TrialIndex)>& is_running) {
  Row row{.trial = trial.id,
          .state = state_of(trial, is_running),
          .reason = trial.ended ? to_string(*trial.ended) : "",
          .parameters = Value::parse(trial.parameters),
          .metric = trial.value,
          .best_metric = trial.best,
          .seconds = trial.seconds,
          .failures = trial.failures,
          .error = trial.last_failure ? trial.last_failure->cause : ""};
  if (const HeldCheckpoint* held = best_checkpoint(trial, history.sweep())) {
    row.checkpoint = checkpoint_path(trial.id, held->checkpoint.name);
    row.checkpoint_iteration = held->step;
    row.checkpoint_metric = held->value;
  }
  if (trial.reports > 0) row.iteration = trial.step;
  if (trial.best) row.best_iteration = trial.best_step;
  if (history.sweep().asha) row.rung = trial.reports > 0 ? history.rungs_reached(trial.step) : 0;
  return row;
}

void flatten_into(const std::string& prefix, const Value& value, std::vector<std::pair<std::string, Value>>& leaves) {
  for (const auto& [name, member] : value.items()) {
    if (member.is_object() && !member.empty()) {
      flatten_into(prefix + name + ".", member, leaves);
    } else {
      leaves.emplace_back(prefix + name, member);
    }
  }
}

}  // namespace

std::string checkpoint_path(const std::string& trial_id, const std::string& name) {
  return "trials/" + trial_id + "/checkpoints/" + name;
}

std::vector<std::pair<std::string, Value>> flatten(const Value& parameters) {
  std::vector<std::pair<std::string, Value>> leaves;
  flatten_into("", parameters, leaves);
  return leaves;
}

Results results_of(const History& history, const std::function<bool(TrialIndex)>& is_running) {
  const Sweep& sweep = history.sweep();
  Results results{.name = sweep.name, .state = "unfinished", .planned = history.planned_trials()};
  if (sweep.metric) {
    results.metric = sweep.metric->name;
    results.goal = sweep.metric->goal;
  }
  if (history.ended()) {
    results.state = "finished";
    results.cause = history.ended()->cause;
  } else if (history.interrupted()) {
    results.state = "interrupted";
    results.cause = history.interrupted()->cause;
  } else if (is_running) {
    results.state = "running";
  }
  for (const TrialState& trial : history.trials()) results.rows.push_back(row_of(trial, history, is_running));
  if (const auto best = history.best_trial()) results.best = static_cast<std::size_t>(*best);
  return results;
}

}  // namespace rt::tune
