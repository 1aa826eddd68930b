#include "rt/tune/sweep.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "rt/tune/command.h"
#include "rt/tune/sweep_parameters.h"
#include "rt/tune/sweep_sections.h"

namespace rt::tune {
namespace {

void parse_what_to_run(Fields& file, Sweep& sweep, Findings& findings) {
  sweep.name = file.text("name").value_or("");
  sweep.description = file.text("description").value_or("");
  sweep.trainable = file.text("trainable").value_or("");
  sweep.program = file.text("program").value_or("");
  const YamlNode* command = file.take("command");
  if (!command) return;
  sweep.command = parse_command(*command, findings);
  if (file.has("trainable"))
    findings.wrong(*command, "command", "'command' beside 'trainable'",
                   "one of the two: a C++ trainable is started by rt itself, a command is a program in any language");
}

Method parse_method(Fields& file, Findings& findings) {
  file.require("method", "grid or random");
  const YamlNode* node = file.take("method");
  const auto method = file.choice("method", {"grid", "random", "bayes", "custom"});
  if (method == "bayes" || method == "custom")
    findings.unsupported(*node, "method", "'method: " + *method + "'", "grid and random are");
  return method == "grid" ? Method::Grid : Method::Random;
}

void parse_metrics(Fields& file, Sweep& sweep, Findings& findings) {
  if (const YamlNode* node = file.take("metric")) sweep.metric = parse_metric(*node, findings);
  if (const YamlNode* node = file.take("metrics"))
    findings.unsupported(*node, "metrics", "'metrics' (several goals at once)", "'metric' takes one");
}

void parse_end_of_trials(Fields& file, Sweep& sweep, Findings& findings) {
  if (const YamlNode* node = file.take("stop")) sweep.stop = parse_stop(*node, sweep.metric, findings);
  const YamlNode* scheduler = file.take("scheduler");
  const YamlNode* early = file.take("early_terminate");
  if (scheduler) sweep.asha = parse_scheduler(*scheduler, "scheduler", sweep.stop.iterations, findings);
  if (early) sweep.asha = parse_early_terminate(*early, sweep.stop.iterations, findings);
  if (scheduler && early)
    findings.wrong(*early, "early_terminate", "'early_terminate' beside 'scheduler'", "one of the two");
  if (sweep.asha && !file.has("metric"))
    findings.wrong(scheduler ? *scheduler : *early, "metric",
                   std::string(scheduler ? "'scheduler'" : "'early_terminate'") + " without 'metric'",
                   "'metric: {name: ..., goal: ...}' to judge trials by");
}

void parse_limits(Fields& file, Sweep& sweep, Findings& findings) {
  constexpr std::int64_t kMostFailures = 1'000'000;
  sweep.run_cap = file.integer("run_cap", 1);
  sweep.seed = static_cast<std::uint64_t>(file.integer("seed", 0).value_or(0));
  sweep.max_failures = static_cast<int>(file.integer("max_failures", 0, kMostFailures).value_or(0));
  if (const YamlNode* node = file.take("resources")) sweep.resources = parse_resources(*node, findings);
  if (const YamlNode* node = file.take("checkpoint")) sweep.checkpoint = parse_checkpoint(*node, findings);
}

Sweep parse_file(const YamlNode& root, Findings& findings) {
  Sweep sweep;
  Fields file(root, "", findings);
  parse_what_to_run(file, sweep, findings);
  sweep.method = parse_method(file, findings);
  parse_metrics(file, sweep, findings);
  file.require("parameters", "the search space, a map of at least one parameter");
  if (const YamlNode* node = file.take("parameters"))
    sweep.space = parse_parameters(*node, "parameters", sweep.method == Method::Grid, findings);
  parse_end_of_trials(file, sweep, findings);
  parse_limits(file, sweep, findings);
  parse_ignored(file, findings);
  file.finish();
  return sweep;
}

}  // namespace

ParsedSweep parse_sweep(std::string_view text, const std::string& file) {
  YamlDocument document = read_yaml(text, file);
  if (!document.root) return {.mistakes = std::move(document.mistakes)};
  Findings findings(file);
  Sweep sweep = parse_file(*document.root, findings);
  ParsedSweep parsed{.mistakes = findings.mistakes_in_file_order(), .notices = findings.notices()};
  if (parsed.mistakes.empty()) parsed.sweep = std::move(sweep);
  return parsed;
}

std::vector<Mistake> missing_to_run(const Sweep& sweep, const std::string& file) {
  std::vector<Mistake> missing;
  const auto needs = [&](const char* key, const char* seen, const char* wanted) {
    missing.push_back({.file = file, .key = key, .seen = seen, .wanted = wanted});
  };
  const bool uses_program = !sweep.trainable.empty() || sweep.command.empty() ||
                            std::find(sweep.command.begin(), sweep.command.end(), "${program}") != sweep.command.end();
  if (sweep.program.empty() && uses_program)
    needs("program", "there is no program to start",
          "'program: FILE' (with 'trainable: NAME' for a C++ trainable in it), or a 'command' that needs none");
  if (sweep.method == Method::Random && !sweep.run_cap)
    needs("run_cap", "'method: random' without 'run_cap' would never end", "the number of trials, say 'run_cap: 20'");
  if (!sweep.trainable.empty() && !sweep.asha && !sweep.stop.iterations && !sweep.stop.seconds)
    needs("stop", "a trial of a C++ trainable would never end",
          "'stop: {iterations: ...}', 'stop: {seconds: ...}' or a 'scheduler' with max_iter");
  return missing;
}

Result<std::string> read_sweep_file(const std::filesystem::path& file) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (status.type() == std::filesystem::file_type::not_found)
    return Error{Code::NotFound, "there is no sweep file " + file.string()};
  if (status.type() == std::filesystem::file_type::directory)
    return Error{Code::Invalid, file.string() + " is a folder; name the sweep file in it"};
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return system_error("opening the sweep file " + file.string(), errno);
  std::string text(kLargestYaml + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (stream.bad()) return system_error("reading the sweep file " + file.string(), errno);
  text.resize(static_cast<std::size_t>(stream.gcount()));
  if (text.size() > kLargestYaml)
    return Error{Code::Invalid, file.string() + " is larger than 1 MiB: that is no sweep file"};
  return text;
}

}  // namespace rt::tune
