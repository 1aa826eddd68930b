#pragma once
// The command line of a trial that is a program in any language: the sweep's `command` with its macros replaced, as
// W&B's agent does it (wandb 0.31.0), values printed as Python prints them.
//
// Pure but for find_in_path: the environment is passed in, files are written by the caller.

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rt/runtime/base/result.h"
#include "rt/tune/value.h"

namespace rt::tune {

struct CommandContext {
  std::string program;      // what ${program} becomes
  std::string interpreter;  // what ${interpreter} becomes
  std::string json_file;    // what ${args_json_file} becomes: the caller writes json_text(parameters) there
  std::function<std::optional<std::string>(std::string_view)> environment;  // a variable's value; nothing: unset
};

// argv of a trial. `command` empty: `${env} ${interpreter} ${program} ${args}` for a program that ends in .py,
// `${program} ${args}` for any other. An unknown macro vanishes, as W&B does it (the parser has said so).
std::vector<std::string> make_argv(const std::vector<std::string>& command, const Value& parameters,
                                   const CommandContext& context);

// Is ${args_json_file} among the items?
bool needs_json_file(const std::vector<std::string>& command);

// Does the command, or the default in its place, use ${interpreter}?
bool needs_interpreter(const std::vector<std::string>& command, const std::string& program);

// A whole item of the form ${...} that stands for nothing: make_argv leaves it out.
bool is_unknown_macro(const std::string& item);

// The macros that make_argv knows, as they are written: "${args}". ${envvar:NAME} is not among them.
const std::vector<std::string>& known_macros();

// An executable file `name` in the folders of `path` (the text of PATH). NotFound says where it was looked for.
Result<std::filesystem::path> find_in_path(const std::string& name, const std::string& path);

// As Python's str() and json.dumps() print it.
std::string python_text(const Value& value);
std::string json_text(const Value& value);

}  // namespace rt::tune
