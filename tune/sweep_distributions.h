#pragma once
// One parameter's keys in a sweep file -> Distribution, by W&B's names and rules. Part of the parser; mistakes go into
// Findings. A new distribution is one function and one line in the table.

#include <optional>

#include "rt/tune/fields.h"
#include "rt/tune/space.h"

namespace rt::tune {

// `fields`: the parameter's map, of which nothing but `parameters` was asked for yet. Nothing where a mistake was
// found.
std::optional<Distribution> parse_distribution(Fields& fields, Findings& findings);

}  // namespace rt::tune
