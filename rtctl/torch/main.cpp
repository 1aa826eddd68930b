// rt-torch: what of rtctl needs LibTorch. rtctl starts it; a person may too.
#include <CLI/CLI.hpp>
#include <iostream>

#include "rt/actors/cluster.h"
#include "rt/actors/trainable.bench.h"
#include "rt/rtctl/torch/bench_train.h"
#include "rt/rtctl/torch/store_actor.h"

namespace {

int exit_status(const rt::Status& status) {
  if (status) return 0;
  std::cerr << "rt-torch: " << status.error().message << "\n";
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  rt::train::register_store_actor();
  rt::detail::serve_if_worker();  // it hosts the stores of gangs, and the trials of rtctl bench tune
  CLI::App app("What of rtctl needs LibTorch.", "rt-torch");
  app.require_subcommand(1);
  auto* bench = app.add_subcommand("bench", "Benchmarks, one JSON line a figure");
  bench->require_subcommand(1);
  auto* train =
      bench->add_subcommand("train", "A data-parallel step of two ranks over Gloo, against c10d's bare Reducer");
  rt::train::BenchTrainOptions options;
  train->add_option("--steps", options.steps, "steps of each form in a pair")->capture_default_str();
  train->add_option("--pairs", options.pairs, "pairs; the figure is their median")->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  if (train->parsed()) return exit_status(rt::train::bench_train(options));
  return 1;
}
