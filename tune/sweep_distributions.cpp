#include "rt/tune/sweep_distributions.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace rt::tune {
namespace {

using Shape = decltype(Distribution::shape);

// One parameter's map, while it is read.
struct Source {
  Fields& fields;
  Findings& findings;
};

std::optional<Shape> constant(Source source) {
  source.fields.require("value", "any value");
  const YamlNode* node = source.fields.take("value");
  if (!node) return std::nullopt;
  auto value = to_value(*node, source.fields.path_of("value"), source.findings);
  return value ? std::optional<Shape>(Constant{*std::move(value)}) : std::nullopt;
}

std::optional<std::vector<Value>> values_of(Source source) {
  const std::string wanted = "a list of at least one value";
  source.fields.require("values", wanted);
  const YamlNode* node = source.fields.take("values");
  if (!node) return std::nullopt;
  const std::string key = source.fields.path_of("values");
  if (node->kind != YamlNode::Kind::List || node->items.empty()) {
    source.findings.wrong(*node, key, "'" + key + "' is " + seen_as(*node), wanted);
    return std::nullopt;
  }
  std::vector<Value> values;
  for (const YamlNode& item : node->items)
    if (auto value = to_value(item, key, source.findings)) values.push_back(*std::move(value));
  return values.size() == node->items.size() ? std::optional(values) : std::nullopt;
}

std::optional<Shape> categorical(Source source) {
  auto values = values_of(source);
  return values ? std::optional<Shape>(Categorical{*std::move(values), {}}) : std::nullopt;
}

std::optional<Shape> weighted_categorical(Source source) {
  auto values = values_of(source);
  source.fields.require("probabilities", "a probability for each of 'values'");
  const YamlNode* node = source.fields.take("probabilities");
  if (!values || !node) return std::nullopt;
  const std::string key = source.fields.path_of("probabilities");
  const auto refuse = [&](const std::string& seen) {
    source.findings.wrong(*node, key, "'" + key + "' " + seen, "a number of at least 0 for each of 'values', 1 in sum");
    return std::optional<Shape>();
  };
  if (node->kind != YamlNode::Kind::List) return refuse("is " + seen_as(*node));
  if (node->items.size() != values->size())
    return refuse("has " + std::to_string(node->items.size()) + " entries for " + std::to_string(values->size()) +
                  " values");
  std::vector<double> probabilities;
  double sum = 0;
  for (const YamlNode& item : node->items) {
    const auto value = item.kind == YamlNode::Kind::Scalar ? scalar_value(item) : std::nullopt;
    if (!value || !value->is_number() || value->get<double>() < 0) return refuse("has the entry " + seen_as(item));
    probabilities.push_back(value->get<double>());
    sum += probabilities.back();
  }
  constexpr double kRounding = 1e-8;  // numpy's tolerance of a sum of probabilities
  if (std::abs(sum - 1) > kRounding) return refuse("have the sum " + Value(sum).dump());
  return Categorical{*std::move(values), std::move(probabilities)};
}

// The bounds of a range as `Get` reads them; nothing, and a mistake, unless both are there and min < max.
template <class Number, class Get>
std::optional<std::pair<Number, Number>> bounds(Source source, Get get) {
  source.fields.require("min", "the lower bound");
  source.fields.require("max", "the upper bound");
  const std::optional<Number> min = get("min");
  const std::optional<Number> max = get("max");
  if (!min || !max) return std::nullopt;
  if (*min < *max) return std::pair{*min, *max};
  const YamlNode& node = *source.fields.take("min");
  const std::string key = source.fields.path_of("min");
  source.findings.wrong(node, key, "'" + key + "' is " + seen_as(node),
                        "a number less than 'max', which is " + seen_as(*source.fields.take("max")));
  return std::nullopt;
}

std::optional<Shape> int_uniform(Source source) {
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  const auto range = bounds<std::int64_t>(source, [&](auto key) { return source.fields.integer(key, kLeast); });
  return range ? std::optional<Shape>(IntUniform{range->first, range->second}) : std::nullopt;
}

std::optional<Shape> uniform(Source source) {
  const auto range = bounds<double>(source, [&](auto key) { return source.fields.number(key); });
  return range ? std::optional<Shape>(Uniform{range->first, range->second}) : std::nullopt;
}

std::optional<Shape> log_uniform(Source source) {
  const Range positive{.min = 0, .is_above_min = true};
  const auto range = bounds<double>(source, [&](auto key) { return source.fields.number(key, positive); });
  return range ? std::optional<Shape>(LogUniform{range->first, range->second}) : std::nullopt;
}

template <class NormalShape>
std::optional<Shape> normal(Source source) {
  const auto mu = source.fields.has("mu") ? source.fields.number("mu") : std::optional(0.0);
  const auto sigma = source.fields.has("sigma") ? source.fields.number("sigma", {.min = 0}) : std::optional(1.0);
  return mu && sigma ? std::optional<Shape>(NormalShape{*mu, *sigma}) : std::nullopt;
}

std::optional<Shape> beta(Source source) {
  const Range allowed{.min = 1e-3, .max = 1e6};  // what a beta of doubles can be told from a point by
  const auto a = source.fields.has("a") ? source.fields.number("a", allowed) : std::optional(1.0);
  const auto b = source.fields.has("b") ? source.fields.number("b", allowed) : std::optional(1.0);
  return a && b ? std::optional<Shape>(Beta{*a, *b}) : std::nullopt;
}

struct Known {
  const char* name;
  std::optional<Shape> (*read)(Source);
  bool has_quantum = false;
};

// The distributions by W&B's names.
constexpr Known kKnown[] = {
    {"constant", constant},
    {"categorical", categorical},
    {"categorical_w_probabilities", weighted_categorical},
    {"int_uniform", int_uniform},
    {"uniform", uniform},
    {"q_uniform", uniform, true},
    {"log_uniform_values", log_uniform},
    {"inv_log_uniform_values", log_uniform},
    {"q_log_uniform_values", log_uniform, true},
    {"normal", normal<Normal>},
    {"q_normal", normal<Normal>, true},
    {"log_normal", normal<LogNormal>},
    {"q_log_normal", normal<LogNormal>, true},
    {"beta", beta},
    {"q_beta", beta, true},
};

const Known* find_known(std::string_view name) {
  const auto found =
      std::find_if(std::begin(kKnown), std::end(kKnown), [&](const Known& known) { return known.name == name; });
  return found == std::end(kKnown) ? nullptr : found;
}

// W&B's older names, whose bounds are exponents of e: refused there too.
bool is_of_exponents(std::string_view name) {
  return name == "log_uniform" || name == "q_log_uniform" || name == "inv_log_uniform";
}

void unknown_distribution(const YamlNode& node, const std::string& key, Findings& findings) {
  std::vector<std::string> names = {"log_uniform", "q_log_uniform", "inv_log_uniform"};
  for (const Known& known : kKnown) names.emplace_back(known.name);
  std::string meant = node.kind == YamlNode::Kind::Scalar ? nearest(node.text, names) : "";
  if (is_of_exponents(meant)) meant += "_values";
  const bool is_old = is_of_exponents(node.text);
  findings.wrong(node, key,
                 "'" + key + "' is " + seen_as(node) + (is_old ? ", whose bounds would be exponents of e" : ""),
                 "a distribution such as uniform, log_uniform_values or normal", meant);
}

// The distribution that the keys say where none is named.
const Known* infer(Fields& fields) {
  if (fields.has("value")) return find_known("constant");
  if (fields.has("values"))
    return find_known(fields.has("probabilities") ? "categorical_w_probabilities" : "categorical");
  const YamlNode* min = fields.take("min");
  const YamlNode* max = fields.take("max");
  if (!min && !max) return nullptr;
  const auto is_whole = [](const YamlNode* node) {
    const auto value = node && node->kind == YamlNode::Kind::Scalar ? scalar_value(*node) : std::nullopt;
    return value && value->is_number_integer();
  };
  return find_known(is_whole(min) && is_whole(max) ? "int_uniform" : "uniform");
}

void says_no_values(Fields& fields, Findings& findings) {
  for (const char* key : {"probabilities", "q", "mu", "sigma", "a", "b"}) fields.has(key);
  const std::size_t before = findings.mistakes().size();
  fields.finish();
  if (findings.mistakes().size() > before) return;  // a misspelled key says more
  findings.wrong(fields.node(), fields.path(), "'" + fields.path() + "' says no values",
                 "'value', 'values', 'min' and 'max', 'distribution' or 'parameters'");
}

std::optional<Quantum> quantum(Fields& fields) {
  if (!fields.has("q")) return Quantum{.q = 1, .is_whole = false};
  const auto q = fields.number("q", {.min = 0, .is_above_min = true});
  if (!q) return std::nullopt;
  return Quantum{.q = *q, .is_whole = scalar_value(*fields.take("q"))->is_number_integer()};
}

}  // namespace

std::optional<Distribution> parse_distribution(Fields& fields, Findings& findings) {
  const Known* known = nullptr;
  if (const YamlNode* named = fields.take("distribution")) {
    known = named->kind == YamlNode::Kind::Scalar ? find_known(named->text) : nullptr;
    if (!known) {
      unknown_distribution(*named, fields.path_of("distribution"), findings);
      return std::nullopt;
    }
  } else if (known = infer(fields); !known) {
    says_no_values(fields, findings);
    return std::nullopt;
  }
  auto shape = known->read({fields, findings});
  const auto step = known->has_quantum ? quantum(fields) : std::nullopt;
  fields.finish();
  if (!shape || (known->has_quantum && !step)) return std::nullopt;
  return Distribution{*std::move(shape), step};
}

}  // namespace rt::tune
