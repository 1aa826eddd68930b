// Sweep files with W&B's own verdicts: rt takes what W&B takes, or says by name that it doesn't yet; what W&B refuses
// it refuses for the same key.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include "rt/tune/sweep.h"

namespace rt::tune {
namespace {

const std::string kFolder = RT_TEST_DATA "/sweeps/";

std::string text_of(const std::string& file) {
  std::stringstream text;
  text << std::ifstream(kFolder + file).rdbuf();
  return text.str();
}

Value verdicts(const char* part) { return Value::parse(std::ifstream(kFolder + "verdicts.json"))[part]; }

enum class Outcome { Valid, NotSupportedYet, Wrong };

Outcome outcome_of(const ParsedSweep& parsed) {
  if (parsed.sweep) return Outcome::Valid;
  const bool is_wrong = std::any_of(parsed.mistakes.begin(), parsed.mistakes.end(),
                                    [](const Mistake& m) { return m.kind == Mistake::Kind::Wrong; });
  return is_wrong ? Outcome::Wrong : Outcome::NotSupportedYet;
}

TEST(Verdicts, AreThoseOfAllFilesInTheFolder) {
  EXPECT_EQ(verdicts("files").size(), 33u);
  EXPECT_EQ(verdicts("probes").size(), 18u);
}

TEST(Verdicts, WhatWandbTakesIsValidOrNotSupportedYetByName) {
  const std::map<std::string, std::string> not_yet = {
      {"valid_03_bayes_metric.yaml", "method: bayes"},
      {"valid_12_early_max_iter.yaml", "early_terminate: {type: hyperband}"},
      {"valid_16_metric_target.yaml", "method: bayes"},
      {"valid_19_multi_objective.yaml", "method: custom"},
  };
  for (const Value& verdict : verdicts("files")) {
    if (verdict["wandb"] != "valid") continue;
    const std::string file = verdict["file"];
    const auto parsed = parse_sweep(text_of(file), file);
    const std::string message = to_string(parsed.mistakes);
    const auto feature = not_yet.find(file);
    EXPECT_EQ(outcome_of(parsed), feature == not_yet.end() ? Outcome::Valid : Outcome::NotSupportedYet) << message;
    if (feature != not_yet.end()) {
      EXPECT_NE(message.find("'" + feature->second + "' is not supported yet"), std::string::npos) << message;
    }
  }
}

TEST(Verdicts, WhatWandbRefusesIsRefusedForTheSameKey) {
  for (const Value& verdict : verdicts("files")) {
    if (verdict["wandb"] != "invalid") continue;
    const std::string file = verdict["file"];
    const std::string key = verdict["key"];
    const auto parsed = parse_sweep(text_of(file), file);
    const auto named = std::find_if(parsed.mistakes.begin(), parsed.mistakes.end(), [&](const Mistake& mistake) {
      return mistake.kind == Mistake::Kind::Wrong && (mistake.key == key || mistake.key.starts_with(key + "."));
    });
    ASSERT_NE(named, parsed.mistakes.end()) << file << ": " << to_string(parsed.mistakes);
    EXPECT_GT(named->line, 0) << file;
    EXPECT_NE(to_string(*named).find("'" + key), std::string::npos) << to_string(*named);
  }
}

// W&B fills in what a file leaves out; the filled parameters must mean the same here.
TEST(Verdicts, DefaultsAreWandbs) {
  for (const Value& verdict : verdicts("files")) {
    const std::string file = verdict["file"];
    const auto written = parse_sweep(text_of(file), file);
    if (!written.sweep) continue;
    const auto filled = parse_sweep("method: random\nparameters: " + verdict["filled_parameters"].dump() + "\n", file);
    ASSERT_TRUE(filled.sweep) << to_string(filled.mistakes);
    for (const double u : {0.01, 0.3, 0.5, 0.93}) {
      const auto at = [&] { return u; };
      EXPECT_EQ(sample(written.sweep->space, at), sample(filled.sweep->space, at)) << file;
    }
  }
}

TEST(Verdicts, ProbesAgreeButWhereTheReferenceSaysSo) {
  const std::map<std::string, Outcome> otherwise = {
      {"bayes_without_metric", Outcome::NotSupportedYet},
      {"early_both_forms", Outcome::NotSupportedYet},
      {"early_without_metric", Outcome::NotSupportedYet},
      {"optuna_engine_with_random", Outcome::NotSupportedYet},
      {"grid_with_uniform", Outcome::Wrong},      // W&B's schema takes it, its search then refuses it
      {"yaml_1e-4_is_a_string", Outcome::Valid},  // YAML 1.2 has it as a number
  };
  for (const Value& probe : verdicts("probes")) {
    const auto parsed = parse_sweep(probe["yaml"].get<std::string>(), "probe");
    const auto exception = otherwise.find(probe["name"]);
    const Outcome verdict = probe["wandb"] == "valid" ? Outcome::Valid : Outcome::Wrong;
    EXPECT_EQ(outcome_of(parsed), exception == otherwise.end() ? verdict : exception->second)
        << probe["name"] << ": " << to_string(parsed.mistakes);
  }
}

}  // namespace
}  // namespace rt::tune
