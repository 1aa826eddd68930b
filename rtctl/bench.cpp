// rtctl bench AREA: one JSON line a figure, with the machine's raw limit measured in the same run where there is one.

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstring>

#include "rt/rtctl/bench_core.h"
#include "rt/rtctl/bench_tune.h"
#include "rt/rtctl/commands.h"
#include "rt/rtctl/find_program.h"
#include "rt/rtctl/print.h"

namespace rt {
namespace {

// What needs LibTorch is in rt-torch, beside this program.
int run_rt_torch(std::vector<std::string> arguments) {
  const std::string program = (own_folder() / "rt-torch").string();
  arguments.insert(arguments.begin(), program);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  ::execv(program.c_str(), argv.data());
  const std::string why = std::strerror(errno);
  return complain(
      "cannot run " + program + ": " + why + "; it is built where LibTorch is (scripts/setup installs that)", kFailed);
}

}  // namespace

void add_bench(CLI::App& app, int& exit_code) {
  CLI::App* bench = app.add_subcommand("bench", "Measure rt on this machine: a JSON line a figure");
  bench->require_subcommand(1);

  const auto options = std::make_shared<BenchTuneOptions>();
  CLI::App* tune = bench->add_subcommand("tune", "Trials a second, and how close to ideal trials fill their slots");
  tune->add_option("--trials", options->trials, "Trials that do nothing [600]");
  tune->add_option("--slots", options->slots, "CPU slots for them [8]");
  tune->add_option("--only", options->only, "One figure, by its name");
  tune->add_flag("--quick", options->quick, "Fewer trials, and none of the 20 s figure");
  tune->callback([options, &exit_code] { exit_code = bench_tune(*options); });

  const auto core_options = std::make_shared<BenchCoreOptions>();
  CLI::App* core = bench->add_subcommand("core", "Calls and actors on one node");
  core->add_option("--only", core_options->only, "One figure, by its name");
  core->add_flag("--quick", core_options->quick, "A tenth of the rounds");
  core->callback([core_options, &exit_code] { exit_code = bench_core(*core_options); });

  CLI::App* train = bench->add_subcommand("train", "Data-parallel steps a second (runs rt-torch bench train)");
  train->prefix_command();
  train->callback([train, &exit_code] {
    std::vector<std::string> arguments{"bench", "train"};
    for (const std::string& argument : train->remaining()) arguments.push_back(argument);
    exit_code = run_rt_torch(std::move(arguments));
  });
}

}  // namespace rt
