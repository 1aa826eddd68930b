#include "rt/tune/sweep_sections.h"

#include "rt/tune/command.h"

namespace rt::tune {
namespace {

constexpr std::int64_t kMostRanks = 100'000;

const char* const kAshaWorks = "'scheduler: {type: asha, max_iter: ...}' stops poor trials early";

// W&B's scheduler: an engine outside of it that proposes trials.
void parse_engine(Fields& fields, Findings& findings) {
  const auto engine = fields.choice("engine", {"optuna", "ax", "wandb"});
  for (const char* key : {"source", "optimizer", "search_space"}) fields.text(key);
  fields.finish();
  if (engine)
    findings.unsupported(*fields.take("engine"), fields.path_of("engine"), "'scheduler: {engine: " + *engine + "}'",
                         "without it rt searches by itself, with 'method: grid' or 'method: random'");
}

}  // namespace

std::optional<Metric> parse_metric(const YamlNode& node, Findings& findings) {
  Fields fields(node, "metric", findings);
  fields.require("name", "the key of the trials' reports that is to be optimised");
  const auto name = fields.text("name");
  const auto goal = fields.choice("goal", {"minimize", "maximize"});
  const auto target = fields.number("target");
  fields.choice("impute", {"latest", "best", "worst"});
  fields.choice("impute_while_running", {"latest", "best", "worst", "false"});
  fields.finish();
  for (const char* key : {"impute", "impute_while_running"})
    if (const YamlNode* at = fields.take(key))
      findings.notice(*at, "'metric." + std::string(key) + "' matters to W&B's bayes only and is ignored");
  if (!name) return std::nullopt;
  return Metric{.name = *name, .goal = goal == "maximize" ? Goal::Maximize : Goal::Minimize, .target = target};
}

std::optional<AshaOptions> parse_scheduler(const YamlNode& node, const std::string& key,
                                           std::optional<std::int64_t> stop_iterations, Findings& findings) {
  Fields fields(node, key, findings);
  if (fields.has("engine")) {
    parse_engine(fields, findings);
    return std::nullopt;
  }
  fields.require("type", "asha");
  const YamlNode* type = fields.take("type");
  if (type && (type->text == "hyperband" || type->text == "pbt" || type->text == "median")) {
    findings.unsupported(*type, key + ".type", "'" + key + ": {type: " + type->text + "}'", kAshaWorks);
    return std::nullopt;
  }
  const bool is_asha = fields.choice("type", {"asha"}).has_value();
  AshaOptions options;
  const auto min_iter = fields.integer("min_iter", 1);
  const auto max_iter = fields.integer("max_iter", 1);
  const auto eta = fields.number("eta", {.min = 1.1, .max = 1e6});
  if (!stop_iterations) fields.require("max_iter", "the step at which a trial ends, or 'stop: {iterations: ...}'");
  fields.finish();
  options.min_iter = min_iter.value_or(options.min_iter);
  options.max_iter = max_iter.value_or(stop_iterations.value_or(options.min_iter));
  options.eta = eta.value_or(options.eta);
  if (min_iter && options.min_iter > options.max_iter)
    findings.wrong(*fields.take("min_iter"), key + ".min_iter",
                   "'" + key + ".min_iter' is " + std::to_string(options.min_iter),
                   "at most 'max_iter', which is " + std::to_string(options.max_iter));
  return is_asha ? std::optional(options) : std::nullopt;
}

std::optional<AshaOptions> parse_early_terminate(const YamlNode& node, std::optional<std::int64_t> stop_iterations,
                                                 Findings& findings) {
  const std::size_t before = findings.mistakes().size();
  Fields fields(node, "early_terminate", findings);
  const YamlNode* type = fields.take("type");
  if (type && type->text == "asha") return parse_scheduler(node, "early_terminate", stop_iterations, findings);
  fields.require("type", "asha");
  fields.choice("type", {"asha", "hyperband"});
  fields.integer("min_iter", 1);
  fields.integer("max_iter", 1);
  fields.number("s");
  fields.number("eta", {.min = 1, .is_above_min = true});
  fields.boolean("strict");
  const bool is_a_map = node.kind == YamlNode::Kind::Map;
  if (is_a_map && !fields.has("min_iter") && !(fields.has("max_iter") && fields.has("s")))
    findings.wrong(node, "early_terminate", "'early_terminate' says no iterations",
                   "'min_iter', or 'max_iter' and 's'");
  fields.finish();
  if (findings.mistakes().size() == before)
    findings.unsupported(*type, "early_terminate", "'early_terminate: {type: hyperband}'", kAshaWorks);
  return std::nullopt;
}

Resources parse_resources(const YamlNode& node, Findings& findings) {
  Fields fields(node, "resources", findings);
  Resources resources;
  const auto ranks = fields.integer("ranks", 1, kMostRanks);
  const auto cpus = fields.integer("cpus_per_rank", 1, kMostRanks);
  const YamlNode* gpus = fields.take("gpus_per_rank");
  if (gpus && gpus->text != "auto") {
    const auto number = fields.integer("gpus_per_rank", 0, kMostRanks);
    if (number) resources.gpus_per_rank = static_cast<int>(*number);
  }
  fields.finish();
  resources.ranks = static_cast<int>(ranks.value_or(resources.ranks));
  resources.cpus_per_rank = static_cast<int>(cpus.value_or(resources.cpus_per_rank));
  return resources;
}

Stop parse_stop(const YamlNode& node, const std::optional<Metric>& metric, Findings& findings) {
  Fields fields(node, "stop", findings);
  Stop stop;
  stop.iterations = fields.integer("iterations", 1);
  stop.seconds = fields.number("seconds", {.min = 0, .is_above_min = true});
  if (metric && metric->name != "iterations" && metric->name != "seconds") stop.bound = fields.number(metric->name);
  fields.finish();
  return stop;
}

CheckpointPolicy parse_checkpoint(const YamlNode& node, Findings& findings) {
  constexpr std::int64_t kMostKept = 1'000'000;
  Fields fields(node, "checkpoint", findings);
  CheckpointPolicy policy;
  policy.every = fields.integer("every", 1);
  policy.keep = static_cast<int>(fields.integer("keep", 1, kMostKept).value_or(policy.keep));
  fields.finish();
  return policy;
}

std::vector<std::string> parse_command(const YamlNode& node, Findings& findings) {
  std::vector<std::string> command;
  if (node.kind != YamlNode::Kind::List || node.items.empty()) {
    findings.wrong(node, "command", "'command' is " + seen_as(node), "a list, one item for each argument");
    return command;
  }
  for (const YamlNode& item : node.items) {
    if (item.kind != YamlNode::Kind::Scalar) {
      findings.wrong(item, "command", "an item of 'command' is " + seen_as(item), "text, a number, true or false");
      continue;
    }
    const auto value = to_value(item, "command", findings);
    if (!value) continue;
    const std::string text = python_text(*value);
    command.push_back(text);
    if (!is_unknown_macro(text)) continue;
    const std::string meant = nearest(text, known_macros());
    findings.notice(item, "unknown macro '" + text + "' is left out of the command" +
                              (meant.empty() ? "" : " - did you mean '" + meant + "'?"));
  }
  return command;
}

void parse_ignored(Fields& file, Findings& findings) {
  for (const char* key : {"entity", "project", "job", "image_uri", "apiVersion"}) file.text(key);
  file.choice("kind", {"sweep"});
  if (const YamlNode* node = file.take("controller")) {
    Fields controller(*node, "controller", findings);  // W&B lets any other key of it pass
    controller.require("type", "local or cloud");
    controller.choice("type", {"local", "cloud"});
  }
  for (const char* key : {"entity", "project", "job", "image_uri", "apiVersion", "kind", "controller"})
    if (const YamlNode* node = file.take(key))
      findings.notice(*node, "'" + std::string(key) + "' has no meaning here and is ignored");
}

}  // namespace rt::tune
