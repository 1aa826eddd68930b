#pragma once
// The sections of a sweep file other than `parameters`. Part of the parser; mistakes go into Findings. Each function
// takes the section's node and gives what it says, with the default in place of what is wrong.

#include <optional>

#include "rt/tune/fields.h"
#include "rt/tune/sweep.h"

namespace rt::tune {

std::optional<Metric> parse_metric(const YamlNode& node, Findings& findings);

// `key`: under which the section stands, for messages. `stop_iterations` stands in for a `max_iter` that isn't written.
std::optional<AshaOptions> parse_scheduler(const YamlNode& node, const std::string& key,
                                           std::optional<std::int64_t> stop_iterations, Findings& findings);

// W&B's key. Type asha is the same as under `scheduler`; W&B's hyperband is checked by its rules, then refused as not
// supported yet.
std::optional<AshaOptions> parse_early_terminate(const YamlNode& node, std::optional<std::int64_t> stop_iterations,
                                                 Findings& findings);

Resources parse_resources(const YamlNode& node, Findings& findings);

Stop parse_stop(const YamlNode& node, const std::optional<Metric>& metric, Findings& findings);

CheckpointPolicy parse_checkpoint(const YamlNode& node, Findings& findings);

// The command's items as text; numbers and booleans as Python prints them, as W&B's agent has them.
std::vector<std::string> parse_command(const YamlNode& node, Findings& findings);

// W&B's keys that have no meaning here: checked, then ignored with a notice.
void parse_ignored(Fields& file, Findings& findings);

}  // namespace rt::tune
