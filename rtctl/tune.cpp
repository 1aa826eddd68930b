// rtctl tune: run a sweep, go on with one, show one.

#include <CLI/CLI.hpp>

#include "rt/rtctl/commands.h"
#include "rt/rtctl/show.h"
#include "rt/rtctl/sweep_run.h"

namespace rt {
namespace {

struct Arguments {
  SweepRunOptions run;
  bool verbose = false, quiet = false;
  ShowOptions show;
};

void add_show(CLI::App& tune, Arguments& arguments, int& exit_code) {
  CLI::App* show = tune.add_subcommand("show", "The results of a sweep, under way or done");
  show->add_option("DIR", arguments.show.directory, "The sweep's folder")->required();
  auto* json = show->add_flag("--json", arguments.show.json, "As JSON (docs/results.md has the schema)");
  show->add_flag("--csv", arguments.show.csv, "As CSV, a line a trial")->excludes(json);
  show->callback([&arguments, &exit_code] { exit_code = show_sweep(arguments.show); });
}

}  // namespace

void add_tune(CLI::App& app, int& exit_code) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* tune = app.add_subcommand("tune", "Run a hyperparameter sweep, go on with one, or show one");
  tune->footer(
      "Examples:\n"
      "  rtctl tune examples/digits/sweep.yaml            on all cores (or GPUs) of this machine\n"
      "  rtctl tune sweep.yaml --cpus 16                  sixteen CPU slots, whatever the machine has\n"
      "  rtctl tune --resume rt-results/digits-...        go on after a stop, a crash or a kill\n"
      "Ctrl-C once stops cleanly (checkpoints first) and says how to go on; twice kills.\n"
      "docs/sweep-file.md describes the file.");
  tune->add_option("FILE", arguments->run.file, "The sweep file (YAML)");
  tune->add_option("--resume", arguments->run.resume, "Go on with the sweep in this folder");
  tune->add_option("--dir", arguments->run.directory, "The sweep's new folder [rt-results/NAME-TIME]");
  tune->add_option("--cpus", arguments->run.cpus, "CPU slots, your own word [the cores this process may use]")
      ->check(CLI::Range(1, 100000));
  tune->add_option("--simulate-gpus", arguments->run.simulate_gpus, "GPU slots that the machine doesn't have")
      ->check(CLI::Range(1, 100000));
  auto* verbose = tune->add_flag("-v,--verbose", arguments->verbose, "Every event as a line, also in a terminal");
  tune->add_flag("-q,--quiet", arguments->quiet, "Only the result")->excludes(verbose);
  tune->require_subcommand(0, 1);
  add_show(*tune, *arguments, exit_code);
  tune->callback([tune, arguments, &exit_code] {
    if (!tune->get_subcommands().empty()) return;
    if (arguments->run.file.empty() == arguments->run.resume.empty())
      throw CLI::ValidationError("tune", "give a sweep FILE, or --resume DIR");
    arguments->run.loudness = arguments->quiet     ? Loudness::Quiet
                              : arguments->verbose ? Loudness::Verbose
                                                   : Loudness::Normal;
    exit_code = run_sweep(arguments->run);
  });
}

}  // namespace rt
