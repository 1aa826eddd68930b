// Results as JSON and CSV, in the schema of docs/results.md.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rt/tune/results.h"

namespace rt::tune {
namespace {

constexpr int kSchema = 1;

template <class T>
Value or_null(const std::optional<T>& value) {
  return value ? Value(*value) : Value(nullptr);
}

Value or_null(const std::string& text) { return text.empty() ? Value(nullptr) : Value(text); }

// Texts of a program (a cause, a parameter) may be no UTF-8: such bytes become U+FFFD.
std::string dump(const Value& value, int indent) {
  return value.dump(indent, ' ', false, Value::error_handler_t::replace);
}

Value json_row(const Row& row) {
  return {{"trial", row.trial},
          {"state", row.state},
          {"reason", or_null(row.reason)},
          {"parameters", row.parameters},
          {"iteration", or_null(row.iteration)},
          {"metric", or_null(row.metric)},
          {"best_metric", or_null(row.best_metric)},
          {"best_iteration", or_null(row.best_iteration)},
          {"rung", or_null(row.rung)},
          {"seconds", row.seconds},
          {"failures", row.failures},
          {"checkpoint", or_null(row.checkpoint)},
          {"error", or_null(row.error)}};
}

std::string quoted(const std::string& field) {
  if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
  std::string out = "\"";
  for (char c : field) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + '"';
}

std::string csv_line(const std::vector<std::string>& fields) {
  std::string line;
  for (std::size_t i = 0; i < fields.size(); ++i) line += (i == 0 ? "" : ",") + quoted(fields[i]);
  return line + "\r\n";
}

template <class T>
std::string csv(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : "";
}

std::string csv(const Value& value) { return value.is_string() ? value.get<std::string>() : dump(value, -1); }

// Every parameter of any trial, in the order in which they first come.
std::vector<std::string> parameter_names(const Results& results) {
  std::vector<std::string> names;
  for (const Row& row : results.rows) {
    for (const auto& [name, value] : flatten(row.parameters)) {
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

}  // namespace

std::string to_json(const Results& results) {
  Value trials = Value::array();
  for (const Row& row : results.rows) trials.push_back(json_row(row));
  const Value best = results.best ? Value(results.rows[*results.best].trial) : Value(nullptr);
  const Value document = {{"schema", kSchema},
                          {"name", or_null(results.name)},
                          {"metric", or_null(results.metric)},
                          {"goal", results.goal == Goal::Minimize ? "minimize" : "maximize"},
                          {"state", results.state},
                          {"cause", or_null(results.cause)},
                          {"planned", or_null(results.planned)},
                          {"best", best},
                          {"trials", trials}};
  return dump(document, 2) + "\n";
}

std::string to_csv(const Results& results) {
  const auto names = parameter_names(results);
  std::vector<std::string> header{"trial",          "state", "reason",  "iteration", "metric",     "best_metric",
                                  "best_iteration", "rung",  "seconds", "failures",  "checkpoint", "error"};
  for (const std::string& name : names) header.push_back("parameters." + name);
  std::string text = csv_line(header);
  for (const Row& row : results.rows) {
    std::vector<std::string> fields{row.trial,
                                    row.state,
                                    row.reason,
                                    csv(row.iteration),
                                    csv(row.metric),
                                    csv(row.best_metric),
                                    csv(row.best_iteration),
                                    csv(row.rung),
                                    fmt::format("{:.3f}", row.seconds),
                                    fmt::format("{}", row.failures),
                                    row.checkpoint,
                                    row.error};
    const auto leaves = flatten(row.parameters);
    for (const std::string& name : names) {
      const auto found = std::ranges::find(leaves, name, &std::pair<std::string, Value>::first);
      fields.push_back(found == leaves.end() ? "" : csv(found->second));
    }
    text += csv_line(fields);
  }
  return text;
}

}  // namespace rt::tune
