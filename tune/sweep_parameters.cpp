#include "rt/tune/sweep_parameters.h"

#include <algorithm>

#include "rt/tune/searcher.h"
#include "rt/tune/sweep_distributions.h"

namespace rt::tune {
namespace {

bool is_name(const std::string& name) {
  const auto is_letter = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_'; };
  const auto may_follow = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '.' || c == '-'; };
  return !name.empty() && is_letter(name[0]) && std::all_of(name.begin(), name.end(), may_follow);
}

std::optional<decltype(Parameter::content)> parse_parameter(const YamlNode& node, const std::string& path, bool is_grid,
                                                            Findings& findings) {
  if (node.kind != YamlNode::Kind::Map) {
    findings.wrong(node, path, "'" + path + "' is " + seen_as(node), "a map, for one fixed value {value: ...}");
    return std::nullopt;
  }
  Fields fields(node, path, findings);
  if (const YamlNode* nested = fields.take("parameters")) {
    fields.finish();
    return parse_parameters(*nested, fields.path_of("parameters"), is_grid, findings);
  }
  auto distribution = parse_distribution(fields, findings);
  if (!distribution) return std::nullopt;
  if (is_grid && !grid_points(*distribution)) {
    findings.wrong(node, path, "'" + path + "' has no finite number of points, which 'method: grid' needs",
                   "value, values without probabilities, whole 'min' and 'max', or q_uniform");
    return std::nullopt;
  }
  return *std::move(distribution);
}

}  // namespace

Space parse_parameters(const YamlNode& node, const std::string& path, bool is_grid, Findings& findings) {
  Space space;
  if (node.kind != YamlNode::Kind::Map || node.entries.empty()) {
    findings.wrong(node, path, "'" + path + "' is " + seen_as(node), "a map of at least one parameter");
    return space;
  }
  for (const YamlEntry& entry : node.entries) {
    const std::string key = path + "." + entry.key;
    if (!is_name(entry.key)) {
      findings.wrong(key_of(entry), key, "the parameter name '" + shortened(entry.key) + "'",
                     "a letter or _, then letters, digits, '_', '.' or '-'");
    }
    if (auto content = parse_parameter(entry.value, key, is_grid, findings))
      space.push_back({entry.key, *std::move(content)});
  }
  return space;
}

}  // namespace rt::tune
