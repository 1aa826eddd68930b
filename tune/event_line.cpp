// The part of table.h for output that isn't a terminal: one line an event.
#include <fmt/format.h>

#include "rt/tune/objective.h"
#include "rt/tune/table.h"
#include "rt/tune/text_table.h"

namespace rt::tune {
namespace {

using Line = std::optional<std::string>;

const TrialState& trial_of(const History& history, TrialIndex trial) { return history.trials()[trial]; }

std::string value_text(const History& history, const std::optional<double>& value) {
  if (!value) return "";
  return fmt::format(", {} {}", history.sweep().metric->name, number_text(*value));
}

Line line(const GenerationStarted& record, const History& history) {
  const TrialState& trial = trial_of(history, record.trial);
  if (record.generation == 1) {
    return fmt::format("trial {} started: {}", trial.id, parameters_text(Value::parse(trial.parameters)));
  }
  const std::string from = record.restore.empty() ? "from the start" : fmt::format("from step {}", record.restore_step);
  return fmt::format("trial {} goes on {} (generation {})", trial.id, from, record.generation);
}

Line line(const Reported& record, const History& history) {
  if (!record.checkpoint && !history.is_milestone(record.step)) return std::nullopt;
  return fmt::format("trial {} iteration {}{}", trial_of(history, record.trial).id, record.step,
                     value_text(history, objective_of(history.sweep(), record.metrics)));
}

std::string indented(std::string_view lines) {
  std::string text;
  while (!lines.empty()) {
    const auto end = std::min(lines.find('\n'), lines.size());
    text += "\n    | " + printable(lines.substr(0, end));
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return text;
}

// A cause may be of several lines: what a program wrote last, or a stack.
Line line(const RankFailed& record, const History& history) {
  const std::string_view cause = record.cause;
  const auto end = std::min(cause.find('\n'), cause.size());
  std::string_view again = record.final ? "" : " (it is tried again)";
  if (record.uncharged) again = " (it isn't charged with that and is started again)";
  return fmt::format("trial {} {} on rank {}{}: {}{}{}", trial_of(history, record.trial).id,
                     record.uncharged ? "lost its processes" : "failed", record.rank, again,
                     printable(cause.substr(0, end)), indented(cause.substr(std::min(end + 1, cause.size()))),
                     indented(record.log_tail));
}

Line line(const TrialEnded& record, const History& history) {
  const TrialState& trial = trial_of(history, record.trial);
  std::string text = fmt::format("trial {} ended ({})", trial.id, to_string(record.reason));
  if (trial.reports > 0) text += fmt::format(" at iteration {}", trial.step);
  if (trial.best) text += fmt::format(", best {} {}", history.sweep().metric->name, number_text(*trial.best));
  return text;
}

Line line(const CheckpointDropped& record, const History& history) {
  if (record.cause.empty()) return std::nullopt;
  return fmt::format("trial {} can't go on from its checkpoint {}: {}", trial_of(history, record.trial).id,
                     printable(record.name), printable(record.cause));
}

Line line(const Interrupted& record, const History&) { return "sweep interrupted: " + record.cause; }

Line line(const SweepEnded& record, const History& history) {
  const std::size_t trials = history.trials().size();
  std::string text = fmt::format("sweep ended after {} {}", trials, trials == 1 ? "trial" : "trials");
  if (!record.cause.empty()) text += ": " + record.cause;
  return text;
}

// SweepStarted and Resumed are said by who starts them; the others change nothing that a person follows.
Line line(const auto&, const History&) { return std::nullopt; }

}  // namespace

std::optional<std::string> event_line(const Record& record, const History& history) {
  return std::visit([&](const auto& fields) { return line(fields, history); }, record);
}

}  // namespace rt::tune
