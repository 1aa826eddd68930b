#include "rt/rtctl/bench_tune.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include "rt/actors/trainable.bench.h"
#include "rt/rtctl/commands.h"
#include "rt/rtctl/figure.h"
#include "rt/rtctl/find_program.h"
#include "rt/rtctl/print.h"
#include "rt/rtctl/sweep_plan.h"
#include "rt/runtime/base/files.h"
#include "rt/runtime/base/id.h"
#include "rt/tune/runner.h"

namespace rt {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// The machine's raw limit: processes of this program that are forked, end and are reaped, one after another.
double forks_per_second() {
  const auto begin = Clock::now();
  int count = 0;
  for (; seconds_since(begin) < 0.5; ++count) {
    const pid_t pid = ::fork();
    if (pid == 0) ::_exit(0);
    ::waitpid(pid, nullptr, 0);
  }
  return count / seconds_since(begin);
}

tune::Sweep parse(const std::string& trainable, int trials) {
  const std::string text = fmt::format(
      "trainable: {}\nprogram: bench\nmethod: random\nmetric: {{name: loss, goal: minimize}}\nrun_cap: {}\n"
      "parameters: {{x: {{min: 0.0, max: 1.0}}}}\nstop: {{iterations: 1}}\n",
      trainable, trials);
  return *tune::parse_sweep(text, "bench").sweep;
}

// Runs `trials` trials on `slots` slots; the seconds it took.
Result<double> time_sweep(const std::string& trainable, const fs::path& program, int trials, int slots) {
  RT_TRY(id, random_id());
  std::error_code error;
  const fs::path directory = fs::temp_directory_path(error) / ("rt-bench-" + id);
  if (error) return system_error("there is no folder for temporary files (TMPDIR, else /tmp)", error.value());
  struct Removed {
    fs::path folder;
    ~Removed() {
      std::error_code ignored;
      fs::remove_all(folder, ignored);
    }
  } removed{directory};
  const tune::Sweep sweep = parse(trainable, trials);
  RT_TRY(cluster, Cluster::Parts::start({.cpus = slots}, program.string()));
  RT_TRY(plan, make_plan(sweep, {.job = program, .program = program}, 0, directory, *cluster));
  RT_CHECK(make_folders(directory));
  RT_TRY(journal, open_journal(directory / "tune"));
  tune::Tuner tuner(sweep);
  tune::Outcome first = tuner.start({.text = "", .path = "bench"});
  tune::Runner runner(std::move(tuner), std::move(journal.journal), *cluster, std::move(plan), {});
  const auto begin = Clock::now();
  RT_CHECK(runner.run(std::move(first)));
  const double seconds = seconds_since(begin);
  for (const auto& trial : runner.tuner().history().trials())
    if (trial.ended != tune::EndReason::StopCondition)
      return Error{Code::Failed,
                   "trial " + trial.id + " did not end as it should: " +
                       (trial.last_failure ? trial.last_failure->cause + "\n" + trial.last_failure->log_tail : "")};
  return seconds;
}

// A figure of trials a second.
Status bench_noop(const std::string& name, const fs::path& program, int trials, int slots,
                  std::optional<double> limit) {
  RT_TRY(seconds, time_sweep("BenchNoop", program, trials, slots));
  print_figure(name, trials / seconds, "1/s", limit);
  return Unit{};
}

Status bench_all(const BenchTuneOptions& options) {
  const int trials = options.quick ? 60 : options.trials;
  const fs::path self = own_folder() / "rtctl", torch = own_folder() / "rt-torch";
  const auto wanted = [&](const char* name) { return options.only.empty() || options.only == name; };
  if (wanted("tune.noop_trials"))
    RT_CHECK(bench_noop("tune.noop_trials", self, trials, options.slots, forks_per_second()));
  if (wanted("tune.noop_trials_torch")) {
    if (std::error_code error; fs::exists(torch, error))
      RT_CHECK(bench_noop("tune.noop_trials_torch", torch, trials / 2, options.slots, std::nullopt));
    else
      print_error("rtctl: tune.noop_trials_torch is left out: there is no {}\n", torch.string());
  }
  if (options.quick || !wanted("tune.sleep320_16slots")) return Unit{};
  RT_TRY(seconds, time_sweep("BenchSleep", self, 320, 16));
  print_figure("tune.sleep320_16slots", seconds, "s", 20.0);
  return Unit{};
}

}  // namespace

int bench_tune(const BenchTuneOptions& options) {
  const Status done = bench_all(options);
  return with_output_written(done ? 0 : complain(done.error().message, kFailed));
}

}  // namespace rt
