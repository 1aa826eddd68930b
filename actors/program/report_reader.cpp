#include "rt/actors/program/report_reader.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace rt {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kShown = 200;                             // bytes of a bad line that a person is shown
constexpr std::uint64_t kLargestStep = std::uint64_t{1} << 53;  // whole numbers up to here are exact in double

// Python's json prints NaN, Infinity and -Infinity, which JSON doesn't know: they are put in quotes.
std::string quote_non_finite(std::string_view line) {
  std::string text;
  bool in_string = false;
  for (std::size_t i = 0; i < line.size();) {
    if (in_string && line[i] == '\\') {
      text += line.substr(i, 2);
      i += 2;
      continue;
    }
    if (line[i] == '"') in_string = !in_string;
    std::string_view token;
    for (const std::string_view name : {"NaN", "Infinity", "-Infinity"})
      if (!in_string && line.substr(i, name.size()) == name) token = name;
    if (token.empty()) {
      text += line[i++];
    } else {
      text.append("\"").append(token).append("\"");
      i += token.size();
    }
  }
  return text;
}

std::optional<double> number(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (value.is_null() || value == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (value == "Infinity") return std::numeric_limits<double>::infinity();
  if (value == "-Infinity") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

std::optional<std::uint64_t> whole_step(const Json& value) {
  if (value.is_number_unsigned()) {
    const auto step = value.get<std::uint64_t>();
    return step <= kLargestStep ? std::optional(step) : std::nullopt;
  }
  if (!value.is_number_float()) return std::nullopt;
  const double step = value.get<double>();
  if (!(step >= 0 && step <= static_cast<double>(kLargestStep)) || std::floor(step) != step) return std::nullopt;
  return static_cast<std::uint64_t>(step);
}

}  // namespace

void ReportReader::append(std::string_view bytes) {
  buffer_.erase(0, begin_);
  begin_ = 0;
  buffer_ += bytes;
}

void ReportReader::finish() {
  if (!buffer_.empty() && buffer_.back() != '\n') buffer_ += '\n';
}

std::optional<std::string_view> ReportReader::next_line() {
  const auto end = buffer_.find('\n', begin_);
  if (end != std::string::npos) {
    const std::string_view line = std::string_view(buffer_).substr(begin_, end - begin_);
    begin_ = end + 1;
    return line;
  }
  if (buffer_.size() - begin_ > kLongestLine) {
    if (!skipping_) complain(ignored_.malformed, "is over 1 MiB", std::string_view(buffer_).substr(begin_));
    skipping_ = true;
    buffer_.clear();
    begin_ = 0;
  }
  return std::nullopt;
}

std::optional<ReportLine> ReportReader::next() {
  while (const auto line = next_line()) {
    if (skipping_) {
      skipping_ = false;
    } else if (line->size() > kLongestLine) {
      complain(ignored_.malformed, "is over 1 MiB", *line);
    } else if (line->find_first_not_of(" \t\r") != std::string_view::npos) {
      if (auto report = parse(*line)) return report;
    }
  }
  return std::nullopt;
}

std::optional<ReportLine> ReportReader::parse(std::string_view line) {
  const Json json = Json::parse(quote_non_finite(line), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    complain(ignored_.malformed, json.is_discarded() ? "is not JSON" : "is not a JSON object", line);
    return std::nullopt;
  }
  const auto step_at = json.find("step");
  const auto step = step_at == json.end() ? std::nullopt : whole_step(*step_at);
  if (!step) {
    complain(ignored_.malformed, "has no \"step\" that is a whole number from 0 to 2^53", line);
    return std::nullopt;
  }
  if (last_step_ && *step <= *last_step_) {
    ++ignored_.repeated;
    return std::nullopt;
  }
  last_step_ = step;
  ReportLine report{.step = *step};
  for (const auto& [name, value] : json.items()) {
    if (name == "step") continue;
    if (name == "checkpoint" && value.is_string()) {
      report.checkpoint = value.get<std::string>();
    } else if (const auto metric = number(value)) {
      report.metrics[name] = *metric;
    } else {
      complain(ignored_.values, "counts, but \"" + name + "\" is not a number and was left out", line);
    }
  }
  return report;
}

void ReportReader::complain(std::uint64_t& count, const std::string& why, std::string_view line) {
  if (++count > 1) return;
  complaint_ += "rt: a line in RT_REPORT " + why +
                " (said once; docs/programs.md has the rules): " + std::string(line.substr(0, kShown)) +
                (line.size() > kShown ? "..." : "") + "\n";
}

std::string ReportReader::take_complaint() { return std::exchange(complaint_, {}); }

}  // namespace rt
