#include "rt/tune/objective.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "rt/tune/mistake.h"

namespace rt::tune {

bool is_better(double value, std::optional<double> than, Goal goal) {
  if (std::isnan(value)) return false;
  if (!than || std::isnan(*than)) return true;
  return goal == Goal::Minimize ? value < *than : value > *than;
}

bool reaches(double value, double bound, Goal goal) { return goal == Goal::Minimize ? value <= bound : value >= bound; }

std::optional<double> objective_of(const Sweep& sweep, const Metrics& metrics) {
  if (!sweep.metric) return std::nullopt;
  const auto found = metrics.find(sweep.metric->name);
  if (found == metrics.end()) return std::nullopt;
  return found->second;
}

Verdict limits_of(const Sweep& sweep, const Reported& report) {
  const auto value = objective_of(sweep, report.metrics);
  if (value && sweep.metric->target && reaches(*value, *sweep.metric->target, sweep.metric->goal)) {
    return Verdict::Target;
  }
  if (sweep.asha && report.step >= sweep.asha->max_iter) return Verdict::Complete;
  const Stop& stop = sweep.stop;
  const bool is_condition = (stop.iterations && report.step >= *stop.iterations) ||
                            (stop.seconds && report.seconds >= *stop.seconds) ||
                            (stop.bound && value && reaches(*value, *stop.bound, sweep.metric->goal));
  return is_condition ? Verdict::Condition : Verdict::Continue;
}

bool needs_metric(const Sweep& sweep) {
  return sweep.metric && (sweep.asha || sweep.metric->target || sweep.stop.bound);
}

std::string missing_metric(const Sweep& sweep, std::int64_t step, const Metrics& metrics) {
  std::vector<std::string> names;
  for (const auto& [name, value] : metrics) names.push_back(name);
  const std::string seen = names.empty() ? "nothing" : fmt::format("only {}", fmt::join(names, ", "));
  const std::string near = nearest(sweep.metric->name, names);
  const std::string question = near.empty() ? "" : fmt::format(" - did you mean '{}'?", near);
  return fmt::format(
      "the report of step {} has no '{}', the sweep's metric, {}{} Report it at every step, or mend metric.name", step,
      sweep.metric->name, seen, question.empty() ? "." : question);
}

}  // namespace rt::tune
