#include "rt/tune/sweep.h"

#include <gtest/gtest.h>

#include <fstream>

#include "rt/tune/sweep.testing.h"

namespace rt::tune {
namespace {

const std::string kSpace = "parameters:\n  lr: {min: 0.1, max: 1.0}\n";

std::string mistakes_of(const std::string& text) { return to_string(parse_sweep(text, "sweep.yaml").mistakes); }

TEST(Sweep, HoldsAllThatTheFileSays) {
  const Sweep sweep = sweep_of(R"(
name: digits
description: two ranks
trainable: Digits
program: digits
method: random
metric: {name: acc, goal: maximize, target: 0.99}
parameters:
  lr: {distribution: log_uniform_values, min: 1e-4, max: 1}
  opt: {parameters: {name: {values: [sgd, adam]}}}
scheduler: {type: asha, min_iter: 2, max_iter: 27, eta: 3}
run_cap: 27
seed: 5
resources: {ranks: 2, gpus_per_rank: 1, cpus_per_rank: 4}
max_failures: 2
stop: {iterations: 30, seconds: 90.5, acc: 0.995}
checkpoint: {every: 3, keep: 2}
)");
  EXPECT_EQ(sweep.name, "digits");
  EXPECT_EQ(sweep.description, "two ranks");
  EXPECT_EQ(sweep.trainable, "Digits");
  EXPECT_EQ(sweep.program, "digits");
  EXPECT_EQ(sweep.method, Method::Random);
  EXPECT_EQ(sweep.metric->name, "acc");
  EXPECT_EQ(sweep.metric->goal, Goal::Maximize);
  EXPECT_EQ(sweep.metric->target, 0.99);
  EXPECT_EQ(sweep.asha, (AshaOptions{.min_iter = 2, .max_iter = 27, .eta = 3}));
  EXPECT_EQ(sweep.run_cap, 27);
  EXPECT_EQ(sweep.seed, 5u);
  EXPECT_EQ(sweep.resources.ranks, 2);
  EXPECT_EQ(sweep.resources.gpus_per_rank, 1);
  EXPECT_EQ(sweep.resources.cpus_per_rank, 4);
  EXPECT_EQ(sweep.max_failures, 2);
  EXPECT_EQ(sweep.stop.iterations, 30);
  EXPECT_EQ(sweep.stop.seconds, 90.5);
  EXPECT_EQ(sweep.stop.bound, 0.995);
  EXPECT_EQ(sweep.checkpoint.every, 3);
  EXPECT_EQ(sweep.checkpoint.keep, 2);
  EXPECT_EQ(leaves(sweep.space).size(), 2u);
  EXPECT_TRUE(missing_to_run(sweep, "sweep.yaml").empty());
}

TEST(Sweep, HasTheDefaultsOfItsReference) {
  const Sweep sweep = sweep_of("method: grid\nprogram: train.py\nparameters: {a: {value: 1}}\n");
  EXPECT_TRUE(sweep.command.empty());
  EXPECT_FALSE(sweep.metric || sweep.asha || sweep.run_cap);
  EXPECT_EQ(sweep.seed, 0u);
  EXPECT_EQ(sweep.resources.ranks, 1);
  EXPECT_EQ(sweep.resources.gpus_per_rank, std::nullopt);
  EXPECT_EQ(sweep.resources.cpus_per_rank, 1);
  EXPECT_EQ(sweep.max_failures, 0);
  EXPECT_FALSE(sweep.stop.iterations || sweep.stop.seconds || sweep.stop.bound || sweep.checkpoint.every);
  EXPECT_EQ(sweep.checkpoint.keep, 1);
  EXPECT_TRUE(missing_to_run(sweep, "sweep.yaml").empty());
}

TEST(Sweep, AshaEndsWhereStopDoesUnlessItSaysSo) {
  const std::string start = "method: random\nmetric: {name: a}\nstop: {iterations: 9}\n" + kSpace;
  EXPECT_EQ(sweep_of(start + "scheduler: {type: asha}\n").asha, (AshaOptions{.min_iter = 1, .max_iter = 9, .eta = 3}));
  EXPECT_EQ(sweep_of(start + "scheduler: {type: asha, max_iter: 5}\n").asha->max_iter, 5);
}

TEST(Sweep, CommandItemsAreTextAsPythonPrintsIt) {
  EXPECT_EQ(sweep_of("method: random\ncommand: [run, 7, true, 1e-5, null]\n" + kSpace).command,
            (std::vector<std::string>{"run", "7", "True", "1e-05", "None"}));
}

TEST(Sweep, GpusMayBeAuto) {
  EXPECT_EQ(sweep_of("method: random\nresources: {gpus_per_rank: auto}\n" + kSpace).resources.gpus_per_rank,
            std::nullopt);
  EXPECT_EQ(sweep_of("method: random\nresources: {gpus_per_rank: 0}\n" + kSpace).resources.gpus_per_rank, 0);
}

TEST(SweepMistakes, AreAllFoundAndStandInTheFilesOrder) {
  EXPECT_EQ(
      mistakes_of("mehtod: random\nrun_cap: 0\nparamters:\n  lr: {min: 1.0, max: 0.1}\nmetric: {nam: a, goal: up}\n"),
      "sweep.yaml:1: 'method' is missing, wanted grid or random\n"
      "sweep.yaml:1: 'parameters' is missing, wanted the search space, a map of at least one parameter\n"
      "sweep.yaml:1: unknown key 'mehtod' - did you mean 'method'?\n"
      "sweep.yaml:2: 'run_cap' is 0, wanted a whole number of at least 1\n"
      "sweep.yaml:3: unknown key 'paramters' - did you mean 'parameters'?\n"
      "sweep.yaml:5: 'metric.name' is missing, wanted the key of the trials' reports that is to be optimised\n"
      "sweep.yaml:5: unknown key 'nam' in 'metric' - did you mean 'name'?\n"
      "sweep.yaml:5: 'metric.goal' is 'up', wanted minimize or maximize");
}

struct Case {
  std::string text;
  std::string mistake;  // the one there is
};

TEST(SweepMistakes, SayWhatWasSeenAndWhatIsWanted) {
  const std::string random = "method: random\n";
  const std::string with = random + kSpace;  // three lines
  const Case cases[] = {
      {"just text\n", "sweep.yaml:1: the file is 'just text', wanted a map of keys and values"},
      {"- a\n", "sweep.yaml:1: the file is a list, wanted a map of keys and values"},
      {random + "parameters: 3\n", "sweep.yaml:2: 'parameters' is 3, wanted a map of at least one parameter"},
      {random + "parameters: {lr: 0.1}\n",
       "sweep.yaml:2: 'parameters.lr' is 0.1, wanted a map, for one fixed value {value: ...}"},
      {random + "parameters: {lr: {}}\n",
       "sweep.yaml:2: 'parameters.lr' says no values, wanted 'value', 'values', 'min' and 'max', 'distribution' or "
       "'parameters'"},
      {random + "parameters: {lr: {vale: 3}}\n",
       "sweep.yaml:2: unknown key 'vale' in 'parameters.lr' - did you mean 'value'?"},
      {random + "parameters: {lr: {min: 2, max: 2}}\n",
       "sweep.yaml:2: 'parameters.lr.min' is 2, wanted a number less than 'max', which is 2"},
      {random + "parameters: {o: {parameters: {lr: {min: 3, max: 2}}}}\n",
       "sweep.yaml:2: 'parameters.o.parameters.lr.min' is 3, wanted a number less than 'max', which is 2"},
      {random + "parameters: {o: {parameters: {lr: {value: 3}}, value: 2}}\n",
       "sweep.yaml:2: unknown key 'value' in 'parameters.o', wanted one of: parameters"},
      {random + "parameters: {lr: {distribution: loguniform, min: 1, max: 2}}\n",
       "sweep.yaml:2: 'parameters.lr.distribution' is 'loguniform' - did you mean 'log_uniform_values'?"},
      {random + "parameters: {lr: {distribution: log_uniform, min: 1, max: 2}}\n",
       "sweep.yaml:2: 'parameters.lr.distribution' is 'log_uniform', whose bounds would be exponents of e - did you "
       "mean "
       "'log_uniform_values'?"},
      {random + "parameters: {lr: {distribution: normal, sigma: -1}}\n",
       "sweep.yaml:2: 'parameters.lr.sigma' is -1, wanted a number of at least 0"},
      {random + "parameters: {x: {values: [1, 2], probabilities: [0.5, 0.6]}}\n",
       "sweep.yaml:2: 'parameters.x.probabilities' have the sum 1.1, wanted a number of at least 0 for each of "
       "'values', 1 in sum"},
      {random + "parameters: {x: {value: .nan}}\n",
       "sweep.yaml:2: 'parameters.x.value' is .nan, wanted a finite number of at most 64 bits, or text in quotes"},
      {"method: grid\n" + kSpace,
       "sweep.yaml:3: 'parameters.lr' has no finite number of points, which 'method: grid' needs, wanted value, values "
       "without probabilities, whole 'min' and 'max', or q_uniform"},
      {with + "program: 5\n",
       "sweep.yaml:4: 'program' is 5, wanted text, in quotes where it could be read as something else"},
      {with + "command: python train.py\n",
       "sweep.yaml:4: 'command' is 'python train.py', wanted a list, one item for each argument"},
      {with + "command: [a, [b]]\n",
       "sweep.yaml:4: an item of 'command' is a list, wanted text, a number, true or false"},
      {with + "trainable: T\ncommand: [a]\n",
       "sweep.yaml:5: 'command' beside 'trainable', wanted one of the two: a C++ trainable is started by rt itself, a "
       "command is a program in any language"},
      {with + "seed: -1\n", "sweep.yaml:4: 'seed' is -1, wanted a whole number of at least 0"},
      {with + "run_cap: 1.5\n", "sweep.yaml:4: 'run_cap' is 1.5, wanted a whole number of at least 1"},
      {with + "resources: {ranks: 0}\n",
       "sweep.yaml:4: 'resources.ranks' is 0, wanted a whole number from 1 to 100000"},
      {with + "resources: {gpus: 2}\n",
       "sweep.yaml:4: unknown key 'gpus' in 'resources' - did you mean 'gpus_per_rank'?"},
      {with + "stop: {loss: 0.1}\n",
       "sweep.yaml:4: unknown key 'loss' in 'stop', wanted one of: iterations or seconds"},
      {with + "metric: {name: loss}\nstop: {los: 0.1}\n",
       "sweep.yaml:5: unknown key 'los' in 'stop' - did you mean 'loss'?"},
      {with + "scheduler: {type: asha, max_iter: 9}\n",
       "sweep.yaml:4: 'scheduler' without 'metric', wanted 'metric: {name: ..., goal: ...}' to judge trials by"},
      {with + "metric: {name: a}\nscheduler: {type: asha}\n",
       "sweep.yaml:5: 'scheduler.max_iter' is missing, wanted the step at which a trial ends, or 'stop: {iterations: "
       "...}'"},
      {with + "metric: {name: a}\nscheduler: {type: asha, min_iter: 9, max_iter: 3}\n",
       "sweep.yaml:5: 'scheduler.min_iter' is 9, wanted at most 'max_iter', which is 3"},
      {with + "metric: {name: a}\nscheduler: {type: aha, max_iter: 3}\n",
       "sweep.yaml:5: 'scheduler.type' is 'aha' - did you mean 'asha'?"},
      {with + "metric: {name: a}\nearly_terminate: {type: asha, min_iter: 9, max_iter: 3}\n",
       "sweep.yaml:5: 'early_terminate.min_iter' is 9, wanted at most 'max_iter', which is 3"},
      {with + "checkpoint: {keep: 0}\n",
       "sweep.yaml:4: 'checkpoint.keep' is 0, wanted a whole number from 1 to 1000000"},
      {with + "kind: job\n", "sweep.yaml:4: 'kind' is 'job', wanted sweep"},
      {with + "seed: 1\nseed: 2\n", "sweep.yaml:5: key 'seed' for the second time, wanted each key once"},
  };
  for (const Case& one : cases) EXPECT_EQ(mistakes_of(one.text), one.mistake);
}

TEST(SweepMistakes, NameWhatIsNotSupportedYetAndWhatWorks) {
  const std::string with = "method: random\n" + kSpace;
  const Case cases[] = {
      {"method: bayes\n" + kSpace, "sweep.yaml:1: 'method: bayes' is not supported yet; grid and random are"},
      {"method: custom\n" + kSpace, "sweep.yaml:1: 'method: custom' is not supported yet; grid and random are"},
      {with + "early_terminate: {type: hyperband, min_iter: 1}\n",
       "sweep.yaml:4: 'early_terminate: {type: hyperband}' is not supported yet; 'scheduler: {type: asha, max_iter: "
       "...}' "
       "stops poor trials early"},
      {with + "scheduler: {engine: optuna}\n",
       "sweep.yaml:4: 'scheduler: {engine: optuna}' is not supported yet; without it rt searches by itself, with "
       "'method: grid' or 'method: random'"},
      {with + "scheduler: {type: pbt}\n",
       "sweep.yaml:4: 'scheduler: {type: pbt}' is not supported yet; 'scheduler: {type: asha, max_iter: ...}' stops "
       "poor "
       "trials early"},
      {with + "metrics: [{name: a}, {name: b}]\n",
       "sweep.yaml:4: 'metrics' (several goals at once) is not supported yet; 'metric' takes one"},
  };
  for (const Case& one : cases) {
    const auto parsed = parse_sweep(one.text, "sweep.yaml");
    EXPECT_EQ(to_string(parsed.mistakes), one.mistake);
    for (const Mistake& mistake : parsed.mistakes) EXPECT_EQ(mistake.kind, Mistake::Kind::NotSupportedYet);
  }
}

TEST(SweepMistakes, OfALongFileEndAtAHundred) {
  std::string text = "method: random\n" + kSpace;
  for (int i = 0; i < 5000; ++i) text += "unknown" + std::to_string(i) + ": 1\n";
  EXPECT_EQ(parse_sweep(text, "f").mistakes.size(), 100u);
}

TEST(SweepNotices, NameWhatIsIgnored) {
  const auto parsed =
      parse_sweep("method: random\nentity: me\nmetric: {name: a, impute: worst}\ncommand: ['${arg}']\n" + kSpace, "f");
  EXPECT_TRUE(parsed.sweep);
  EXPECT_EQ(parsed.notices, (std::vector<std::string>{
                                "f:4: unknown macro '${arg}' is left out of the command - did you mean '${args}'?",
                                "f:3: 'metric.impute' matters to W&B's bayes only and is ignored",
                                "f:2: 'entity' has no meaning here and is ignored"}));
}

TEST(SweepNotices, WarnOfWhatWandbReadsOtherwise) {
  const auto parsed = parse_sweep("method: random\nparameters: {amp: {values: [yes, 'no', true]}}\n", "f");
  EXPECT_EQ(
      parsed.notices,
      (std::vector<std::string>{"f:2: 'yes' is text by YAML 1.2; W&B reads true or false, so write one of these"}));
}

TEST(MissingToRun, SaysWhatASweepStillNeeds) {
  const Case cases[] = {
      {"method: random\nrun_cap: 3\n",
       "f: there is no program to start, wanted 'program: FILE' (with 'trainable: NAME' for a C++ trainable in it), or "
       "a "
       "'command' that needs none"},
      {"method: random\nprogram: x.py\n",
       "f: 'method: random' without 'run_cap' would never end, wanted the number of trials, say 'run_cap: 20'"},
      {"method: random\nprogram: x\ntrainable: X\nrun_cap: 3\nstop: {acc: 1}\nmetric: {name: acc}\n",
       "f: a trial of a C++ trainable would never end, wanted 'stop: {iterations: ...}', 'stop: {seconds: ...}' or a "
       "'scheduler' with max_iter"},
      {"method: random\ncommand: [sh, -c, 'exit 0']\nrun_cap: 3\n", ""},
      {"method: random\ncommand: ['${program}']\nrun_cap: 3\n",
       "f: there is no program to start, wanted 'program: FILE' (with 'trainable: NAME' for a C++ trainable in it), or "
       "a "
       "'command' that needs none"},
      {"method: random\nprogram: x\ntrainable: X\nrun_cap: 3\nstop: {seconds: 5}\n", ""},
  };
  for (const Case& one : cases) EXPECT_EQ(to_string(missing_to_run(sweep_of(one.text + kSpace), "f")), one.mistake);
}

TEST(ReadSweepFile, SaysWhatStandsInTheWay) {
  const std::filesystem::path folder = testing::TempDir() + "/read_sweep_file";
  std::filesystem::create_directories(folder);
  EXPECT_EQ(read_sweep_file(folder / "none.yaml").error().code, Code::NotFound);
  EXPECT_EQ(read_sweep_file(folder).error().message, folder.string() + " is a folder; name the sweep file in it");
  const auto large = folder / "large.yaml";
  std::ofstream(large) << "x";
  std::filesystem::resize_file(large, std::uintmax_t{1} << 30);  // 1 GiB of nothing, as a hole
  EXPECT_EQ(read_sweep_file(large).error().message, large.string() + " is larger than 1 MiB: that is no sweep file");
  const auto good = folder / "good.yaml";
  std::ofstream(good) << "method: grid\n";
  EXPECT_EQ(*read_sweep_file(good), "method: grid\n");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace rt::tune
