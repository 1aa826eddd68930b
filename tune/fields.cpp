#include "rt/tune/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

namespace rt::tune {
namespace {

std::string number_text(double number) { return fmt::format("{}", number); }

std::string wanted_number(const Range& range) {
  const bool has_max = std::isfinite(range.max);
  if (!std::isfinite(range.min)) return has_max ? "a number of at most " + number_text(range.max) : "a number";
  const std::string low = number_text(range.min);
  if (range.is_above_min) return "a number greater than " + low;
  return has_max ? "a number from " + low + " to " + number_text(range.max) : "a number of at least " + low;
}

std::string wanted_integer(std::int64_t min, std::int64_t max) {
  const std::string low = std::to_string(min);
  if (max < std::numeric_limits<std::int64_t>::max())
    return "a whole number from " + low + " to " + std::to_string(max);
  if (min > std::numeric_limits<std::int64_t>::min()) return "a whole number of at least " + low;
  return "a whole number";
}

bool is_boolean_to_yaml_1_1(const YamlNode& scalar) {
  static constexpr std::string_view kWords[] = {"yes", "Yes", "YES", "no",  "No",  "NO",
                                                "on",  "On",  "ON",  "off", "Off", "OFF"};
  return scalar.is_plain && std::find(std::begin(kWords), std::end(kWords), scalar.text) != std::end(kWords);
}

std::string either(const std::vector<std::string>& choices) {
  std::string text;
  for (std::size_t i = 0; i < choices.size(); ++i)
    text += (i == 0 ? "" : i + 1 == choices.size() ? " or " : ", ") + choices[i];
  return text;
}

}  // namespace

void Findings::wrong(const YamlNode& at, std::string key, std::string seen, std::string wanted, std::string nearest) {
  add({Mistake::Kind::Wrong, file_, at.line, at.column, std::move(key), std::move(seen), std::move(wanted),
       std::move(nearest)});
}

void Findings::unsupported(const YamlNode& at, std::string key, std::string seen, std::string works) {
  add({Mistake::Kind::NotSupportedYet, file_, at.line, at.column, std::move(key), seen + " is not supported yet",
       std::move(works), ""});
}

void Findings::add(Mistake mistake) {
  if (!is_full()) mistakes_.push_back(std::move(mistake));
}

void Findings::notice(const YamlNode& at, const std::string& text) {
  if (notices_.size() < kMost) notices_.push_back(file_ + ":" + std::to_string(at.line) + ": " + text);
}

std::vector<Mistake> Findings::mistakes_in_file_order() const {
  std::vector<Mistake> sorted = mistakes_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Mistake& a, const Mistake& b) {
    return std::tie(a.line, a.column) < std::tie(b.line, b.column);
  });
  return sorted;
}

YamlNode key_of(const YamlEntry& entry) {
  YamlNode key;
  key.line = entry.line;
  key.column = entry.column;
  key.text = entry.key;
  return key;
}

std::string shortened(const std::string& text) {
  constexpr std::size_t kMost = 40;
  if (text.size() <= kMost) return text;
  std::size_t cut = kMost;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) --cut;  // not within a character
  return text.substr(0, cut) + "...";
}

std::string seen_as(const YamlNode& node) {
  if (node.kind == YamlNode::Kind::List) return node.items.empty() ? "an empty list" : "a list";
  if (node.kind == YamlNode::Kind::Map) return node.entries.empty() ? "an empty map" : "a map";
  if (node.is_plain && node.text.empty()) return "empty";
  const auto value = scalar_value(node);
  return value && value->is_string() ? "'" + shortened(node.text) + "'" : shortened(node.text);
}

std::optional<Value> to_value(const YamlNode& node, const std::string& key, Findings& findings) {
  if (node.kind == YamlNode::Kind::Scalar) {
    if (is_boolean_to_yaml_1_1(node))
      findings.notice(node, "'" + node.text + "' is text by YAML 1.2; W&B reads true or false, so write one of these");
    auto value = scalar_value(node);
    if (!value)
      findings.wrong(node, key, "'" + key + "' is " + seen_as(node),
                     "a finite number of at most 64 bits, or text in quotes");
    return value;
  }
  const bool is_list = node.kind == YamlNode::Kind::List;
  Value whole = is_list ? Value::array() : Value::object();
  bool is_whole = true;
  const auto put = [&](std::optional<Value> part, const std::string* name) {
    if (!part)
      is_whole = false;
    else if (name)  // appended without a look at the other members, which would take long: the keys differ anyway
      whole.get_ptr<Value::object_t*>()->emplace_back(*name, *std::move(part));
    else
      whole.push_back(*std::move(part));
  };
  for (const YamlNode& item : node.items) put(to_value(item, key, findings), nullptr);
  for (const YamlEntry& entry : node.entries) put(to_value(entry.value, key + "." + entry.key, findings), &entry.key);
  return is_whole ? std::optional(whole) : std::nullopt;
}

Fields::Fields(const YamlNode& node, std::string path, Findings& findings)
    : node_(node), path_(std::move(path)), findings_(findings) {
  if (node.kind == YamlNode::Kind::Map) return;
  const std::string name = path_.empty() ? "the file" : "'" + path_ + "'";
  findings.wrong(node, path_, name + " is " + seen_as(node), "a map of keys and values");
}

std::string Fields::path_of(std::string_view key) const {
  return path_.empty() ? std::string(key) : path_ + "." + std::string(key);
}

bool Fields::has(std::string_view key) { return take(key) != nullptr; }

const YamlNode* Fields::take(std::string_view key) {
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.emplace_back(key);
  for (const YamlEntry& entry : node_.entries)
    if (entry.key == key) return &entry.value;
  return nullptr;
}

void Fields::wrong_value(const YamlNode& value, std::string_view key, const std::string& wanted, std::string nearest) {
  findings_.wrong(value, path_of(key), "'" + path_of(key) + "' is " + seen_as(value), wanted, std::move(nearest));
}

std::optional<std::string> Fields::text(std::string_view key) {
  const YamlNode* node = take(key);
  if (!node) return std::nullopt;
  const auto value = node->kind == YamlNode::Kind::Scalar ? scalar_value(*node) : std::nullopt;
  if (value && value->is_string() && !node->text.empty()) return node->text;
  wrong_value(*node, key,
              value && value->is_string() ? "text" : "text, in quotes where it could be read as something else");
  return std::nullopt;
}

std::optional<std::int64_t> Fields::integer(std::string_view key, std::int64_t min, std::int64_t max) {
  const YamlNode* node = take(key);
  if (!node) return std::nullopt;
  const auto value = node->kind == YamlNode::Kind::Scalar ? scalar_value(*node) : std::nullopt;
  if (value && value->is_number_integer()) {
    const auto number = value->get<std::int64_t>();
    if (number >= min && number <= max) return number;
  }
  wrong_value(*node, key, wanted_integer(min, max));
  return std::nullopt;
}

std::optional<double> Fields::number(std::string_view key, Range range) {
  const YamlNode* node = take(key);
  if (!node) return std::nullopt;
  const auto value = node->kind == YamlNode::Kind::Scalar ? scalar_value(*node) : std::nullopt;
  if (value && value->is_number()) {
    const auto number = value->get<double>();
    const bool is_enough = range.is_above_min ? number > range.min : number >= range.min;
    if (is_enough && number <= range.max) return number;
  }
  wrong_value(*node, key, wanted_number(range));
  return std::nullopt;
}

std::optional<bool> Fields::boolean(std::string_view key) {
  const YamlNode* node = take(key);
  if (!node) return std::nullopt;
  const auto value = node->kind == YamlNode::Kind::Scalar ? scalar_value(*node) : std::nullopt;
  if (value && value->is_boolean()) return value->get<bool>();
  wrong_value(*node, key, "true or false");
  return std::nullopt;
}

std::optional<std::string> Fields::choice(std::string_view key, const std::vector<std::string>& choices) {
  const YamlNode* node = take(key);
  if (!node) return std::nullopt;
  const bool is_scalar = node->kind == YamlNode::Kind::Scalar;
  if (is_scalar && std::find(choices.begin(), choices.end(), node->text) != choices.end()) return node->text;
  wrong_value(*node, key, either(choices), is_scalar ? nearest(node->text, choices) : "");
  return std::nullopt;
}

void Fields::require(std::string_view key, const std::string& wanted) {
  if (has(key) || node_.kind != YamlNode::Kind::Map) return;
  findings_.wrong(node_, path_of(key), "'" + path_of(key) + "' is missing", wanted);
}

void Fields::finish() {
  for (const YamlEntry& entry : node_.entries) {
    if (findings_.is_full()) return;
    if (std::find(known_.begin(), known_.end(), entry.key) != known_.end()) continue;
    const std::string where = path_.empty() ? "" : " in '" + path_ + "'";
    findings_.wrong(key_of(entry), path_of(entry.key), "unknown key '" + shortened(entry.key) + "'" + where,
                    "one of: " + either(known_), nearest(entry.key, known_));
  }
}

}  // namespace rt::tune
