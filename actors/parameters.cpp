#include "rt/actors/parameters.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "rt/runtime/base/result.h"

namespace rt {
namespace {

using Json = nlohmann::json;

std::optional<Json> find(const std::string& text, std::string_view name) {
  Json value = Json::parse(text);
  // A name may itself hold dots (W&B allows model.layers-2), so the whole name is looked for first.
  if (const auto whole = value.find(std::string(name)); whole != value.end()) return *whole;
  while (true) {
    const auto dot = name.find('.');
    const auto it = value.is_object() ? value.find(std::string(name.substr(0, dot))) : value.end();
    if (!value.is_object() || it == value.end()) return std::nullopt;
    Json next = *it;
    value = std::move(next);
    if (dot == std::string_view::npos) return value;
    name.remove_prefix(dot + 1);
  }
}

Json require(const std::string& text, std::string_view name) {
  if (auto value = find(text, name)) return *std::move(value);
  throw Exception({Code::Invalid, "parameter '" + std::string(name) + "' is not in this trial's parameters " + text +
                                      "; add it to the sweep file's parameters"});
}

[[noreturn]] void wrong_type(std::string_view name, const Json& value, const char* wanted) {
  throw Exception({Code::Invalid, "parameter '" + std::string(name) + "' is " + value.dump() + ", wanted " + wanted});
}

}  // namespace

Parameters::Parameters(std::string text) : json_(std::move(text)) {
  if (!Json::accept(json_) || !Json::parse(json_).is_object())
    throw Exception({Code::Invalid, "parameters must be a JSON object, seen: " + json_});
}

bool Parameters::has(std::string_view name) const { return find(json_, name).has_value(); }

double Parameters::number(std::string_view name) const {
  const Json value = require(json_, name);
  if (!value.is_number()) wrong_type(name, value, "a number");
  return value.get<double>();
}

std::int64_t Parameters::integer(std::string_view name) const {
  const Json value = require(json_, name);
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (!value.is_number() || std::floor(value.get<double>()) != value.get<double>())
    wrong_type(name, value, "a whole number");
  return static_cast<std::int64_t>(value.get<double>());
}

bool Parameters::boolean(std::string_view name) const {
  const Json value = require(json_, name);
  if (!value.is_boolean()) wrong_type(name, value, "true or false");
  return value.get<bool>();
}

std::string Parameters::text(std::string_view name) const {
  const Json value = require(json_, name);
  if (!value.is_string()) wrong_type(name, value, "text");
  return value.get<std::string>();
}

double Parameters::number_or(std::string_view name, double otherwise) const {
  return has(name) ? number(name) : otherwise;
}
std::int64_t Parameters::integer_or(std::string_view name, std::int64_t otherwise) const {
  return has(name) ? integer(name) : otherwise;
}
bool Parameters::boolean_or(std::string_view name, bool otherwise) const {
  return has(name) ? boolean(name) : otherwise;
}
std::string Parameters::text_or(std::string_view name, std::string_view otherwise) const {
  return has(name) ? text(name) : std::string(otherwise);
}

}  // namespace rt
