#include "rt/tune/command.h"

#include <unistd.h>

#include <algorithm>

namespace rt::tune {
namespace {

using Items = std::vector<std::string>;

constexpr std::string_view kVariable = "${envvar:";
constexpr std::string_view kVariableName = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

Items prefixed(const Value& parameters, const std::string& prefix) {
  Items items;
  for (const auto& [name, value] : parameters.items()) items.push_back(prefix + name + "=" + python_text(value));
  return items;
}

Items args(const Value& parameters, const CommandContext&) { return prefixed(parameters, "--"); }
Items args_no_hyphens(const Value& parameters, const CommandContext&) { return prefixed(parameters, ""); }
Items args_append_hydra(const Value& parameters, const CommandContext&) { return prefixed(parameters, "+"); }
Items args_override_hydra(const Value& parameters, const CommandContext&) { return prefixed(parameters, "++"); }

Items args_no_boolean_flags(const Value& parameters, const CommandContext&) {
  Items items;
  for (const auto& [name, value] : parameters.items()) {
    if (!value.is_boolean())
      items.push_back("--" + name + "=" + python_text(value));
    else if (value.get<bool>())
      items.push_back("--" + name);
  }
  return items;
}

Items args_no_equals(const Value& parameters, const CommandContext&) {
  Items items;
  for (const auto& [name, value] : parameters.items()) {
    items.push_back("--" + name);
    items.push_back(python_text(value));
  }
  return items;
}

Items args_dict(const Value& parameters, const CommandContext&) {
  Items items;
  for (const auto& [name, value] : parameters.items()) items.push_back(name);
  return items;
}

Items args_json(const Value& parameters, const CommandContext&) { return {json_text(parameters)}; }
Items args_json_file(const Value&, const CommandContext& context) { return {context.json_file}; }
Items env(const Value&, const CommandContext&) { return {"/usr/bin/env"}; }
Items interpreter(const Value&, const CommandContext& context) { return {context.interpreter}; }
Items program(const Value&, const CommandContext& context) { return {context.program}; }

struct Macro {
  const char* text;
  Items (*replace)(const Value& parameters, const CommandContext& context);
};

constexpr Macro kMacros[] = {
    {"${env}", env},
    {"${interpreter}", interpreter},
    {"${program}", program},
    {"${args}", args},
    {"${args_no_boolean_flags}", args_no_boolean_flags},
    {"${args_no_hyphens}", args_no_hyphens},
    {"${args_no_equals}", args_no_equals},
    {"${args_append_hydra}", args_append_hydra},
    {"${args_override_hydra}", args_override_hydra},
    {"${args_json}", args_json},
    {"${args_json_file}", args_json_file},
    {"${args_dict}", args_dict},
};

// ${envvar:NAME} anywhere in the item; an unset variable leaves its bare name.
std::string with_variables(const std::string& item, const CommandContext& context) {
  std::string text;
  std::size_t done = 0;
  for (std::size_t at = item.find(kVariable); at != std::string::npos; at = item.find(kVariable, at + 1)) {
    const std::size_t close = item.find_first_not_of(kVariableName, at + kVariable.size());
    if (close == std::string::npos || item[close] != '}') continue;
    const std::string name = item.substr(at + kVariable.size(), close - at - kVariable.size());
    text += item.substr(done, at - done) + context.environment(name).value_or(name);
    done = close + 1;
  }
  return text + item.substr(done);
}

Items default_command(const std::string& program) {
  if (program.ends_with(".py")) return {"${env}", "${interpreter}", "${program}", "${args}"};
  return {"${program}", "${args}"};
}

bool contains(const Items& items, std::string_view item) {
  return std::find(items.begin(), items.end(), item) != items.end();
}

}  // namespace

std::vector<std::string> make_argv(const std::vector<std::string>& command, const Value& parameters,
                                   const CommandContext& context) {
  Items argv;
  for (const std::string& written : command.empty() ? default_command(context.program) : command) {
    const auto macro =
        std::find_if(std::begin(kMacros), std::end(kMacros), [&](const Macro& m) { return written == m.text; });
    if (macro != std::end(kMacros)) {
      for (std::string& item : macro->replace(parameters, context)) argv.push_back(std::move(item));
      continue;
    }
    std::string item = with_variables(written, context);
    if (item != written || !is_unknown_macro(item)) argv.push_back(std::move(item));
  }
  return argv;
}

bool needs_json_file(const std::vector<std::string>& command) { return contains(command, "${args_json_file}"); }

bool needs_interpreter(const std::vector<std::string>& command, const std::string& program) {
  return contains(command.empty() ? default_command(program) : command, "${interpreter}");
}

bool is_unknown_macro(const std::string& item) {
  if (!item.starts_with("${") || item.find('}') != item.size() - 1 || contains(known_macros(), item)) return false;
  const bool is_variable =
      item.starts_with(kVariable) && item.find_first_not_of(kVariableName, kVariable.size()) == item.size() - 1;
  return !is_variable;
}

const std::vector<std::string>& known_macros() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Macro& macro : kMacros) all.emplace_back(macro.text);
    return all;
  }();
  return names;
}

Result<std::filesystem::path> find_in_path(const std::string& name, const std::string& path) {
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    const std::filesystem::path folder = end == begin ? "." : path.substr(begin, end - begin);
    const std::filesystem::path candidate = folder / name;
    std::error_code error;
    if (std::filesystem::is_regular_file(candidate, error) && access(candidate.c_str(), X_OK) == 0) return candidate;
    begin = end + 1;
  }
  return Error{Code::NotFound, "'" + name + "' is in no folder of PATH (" + path + ")"};
}

}  // namespace rt::tune
