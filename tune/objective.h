#pragma once
// Objective: which value is better, and what a report means for the sweep's own limits (target, stop, max_iter).
//
// Pure functions of the sweep. nan is never better, never reaches a bound.

#include <cstdint>
#include <optional>
#include <string>

#include "rt/tune/records.h"
#include "rt/tune/sweep.h"

namespace rt::tune {

// Is `value` strictly better than `than`? Any number is better than nan or nothing.
bool is_better(double value, std::optional<double> than, Goal goal);

// At least as good as `bound`.
bool reaches(double value, double bound, Goal goal);

// The sweep's metric in a report; nothing where the sweep names none or the report lacks it.
std::optional<double> objective_of(const Sweep& sweep, const Metrics& metrics);

// What the limits alone say of a report, the scheduler not asked: Target, Complete, Condition or Continue, in this
// order of precedence.
Verdict limits_of(const Sweep& sweep, const Reported& report);

// Can the sweep not do without its metric? With a scheduler, a target or a bound every report must have it.
bool needs_metric(const Sweep& sweep);

// "the report of step 3 has no metric 'accuracy', only: acuracy, loss - did you mean 'acuracy'? ..."
std::string missing_metric(const Sweep& sweep, std::int64_t step, const Metrics& metrics);

}  // namespace rt::tune
