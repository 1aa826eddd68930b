#include "rt/tune/command.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>

namespace rt::tune {
namespace {

CommandContext context_with(std::map<std::string, std::string> variables) {
  return {.program = "train.py",
          .interpreter = "python",
          .json_file = "<WANDB_DIR>/wandb/sweep-<SWEEP>/config-<RUN>.json",
          .environment = [variables](std::string_view name) -> std::optional<std::string> {
            const auto found = variables.find(std::string(name));
            return found == variables.end() ? std::nullopt : std::optional(found->second);
          }};
}

TEST(Command, IsTheAgentsOfWandb) {
  const Value oracle = Value::parse(std::ifstream(RT_TEST_DATA "/sweeps/command_macros.json"));
  const auto context = context_with(oracle["env"].get<std::map<std::string, std::string>>());
  for (const Value& one : oracle["cases"]) {
    std::vector<std::string> command;  // none: the default
    if (!one["command"].is_null())
      for (const Value& item : one["command"]) command.push_back(python_text(item));
    EXPECT_EQ(make_argv(command, oracle["parameters"], context), one["argv"].get<std::vector<std::string>>())
        << one["command"];
  }
}

TEST(Command, OfAProgramThatIsNoPythonLeavesTheInterpreterOut) {
  CommandContext context = context_with({});
  context.program = "./train";
  EXPECT_EQ(make_argv({}, Value{{"lr", 0.1}}, context), (std::vector<std::string>{"./train", "--lr=0.1"}));
  EXPECT_FALSE(needs_interpreter({}, "./train"));
  EXPECT_TRUE(needs_interpreter({}, "train.py"));
  EXPECT_TRUE(needs_interpreter({"${interpreter}"}, "./train"));
}

TEST(Command, KnowsWhatItLeavesOut) {
  EXPECT_TRUE(is_unknown_macro("${arg}"));
  EXPECT_TRUE(is_unknown_macro("${envvar:lower}"));
  for (const char* item : {"${args}", "${envvar:HOME}", "x${arg}", "${a}${b}", "${args", "plain", ""})
    EXPECT_FALSE(is_unknown_macro(item)) << item;
  EXPECT_TRUE(needs_json_file({"x", "${args_json_file}"}));
  EXPECT_FALSE(needs_json_file({"x", "${args_json}"}));
}

// What CPython 3.11 prints for str() of the same values.
TEST(PythonText, IsWhatPythonPrints) {
  const std::pair<Value, const char*> cases[] = {
      {nullptr, "None"},
      {true, "True"},
      {-7, "-7"},
      {0.001, "0.001"},
      {1.0, "1.0"},
      {1e-4, "0.0001"},
      {1e-5, "1e-05"},
      {2.5e-7, "2.5e-07"},
      {1e15, "1000000000000000.0"},
      {9007199254740993.0, "9007199254740992.0"},
      {1e16, "1e+16"},
      {1.5e300, "1.5e+300"},
      {-0.0, "-0.0"},
      {0.1 + 0.2, "0.30000000000000004"},
      {123456.789, "123456.789"},
      {"a b", "a b"},
      {Value::array({"it's", "say \"x\"", "a\\b\n", "both ' and \""}),
       R"(["it's", 'say "x"', 'a\\b\n', 'both \' and "'])"},
      {Value::array(), "[]"},
      {Value::object(), "{}"},
      {{{"k", {1, 2.0}}, {"n", nullptr}}, "{'k': [1, 2.0], 'n': None}"},
  };
  for (const auto& [value, text] : cases) EXPECT_EQ(python_text(value), text);
}

// What json.dumps of CPython 3.11 prints.
TEST(JsonText, IsWhatPythonDumps) {
  EXPECT_EQ(json_text({{"a", 1e-5}, {"b", {true, nullptr, "\u00e9\""}}, {"c", Value::object()}}),
            R"({"a": 1e-05, "b": [true, null, "\u00e9\""], "c": {}})");
}

TEST(FindInPath, FindsWhatTheShellWould) {
  const auto found = find_in_path("sh", "/nowhere:/bin");
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, "/bin/sh");
  const auto missing = find_in_path("no-such-program", "/bin:/usr/bin");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message, "'no-such-program' is in no folder of PATH (/bin:/usr/bin)");
}

}  // namespace
}  // namespace rt::tune
