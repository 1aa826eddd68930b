#include "rt/rtctl/sweep_run.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "rt/rtctl/commands.h"
#include "rt/rtctl/find_program.h"
#include "rt/rtctl/paths.h"
#include "rt/rtctl/print.h"
#include "rt/rtctl/signals.h"
#include "rt/rtctl/sweep_plan.h"
#include "rt/runtime/base/checksum.h"
#include "rt/runtime/base/crash_point.h"
#include "rt/tune/results.h"

namespace rt {
namespace {

namespace fs = std::filesystem;

// A sweep that can be run: from a file, or from the journal of an earlier run.
struct LoadedSweep {
  tune::Sweep sweep;
  std::string text, path;
  std::vector<tune::Record> records;  // of the earlier runs
  fs::path directory;
};

std::uint64_t now_ms() {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count());
}

// The sweep in `text`, or nothing: its mistakes have been printed then.
std::optional<tune::Sweep> check(const std::string& text, const std::string& path, bool quiet) {
  tune::ParsedSweep parsed = tune::parse_sweep(text, path);
  if (!quiet)
    for (const std::string& notice : parsed.notices) print_error("{}\n", notice);
  std::vector<tune::Mistake> mistakes = parsed.mistakes;
  if (parsed.sweep) mistakes = tune::missing_to_run(*parsed.sweep, path);
  for (const tune::Mistake& mistake : mistakes) print_error("{}\n", tune::to_string(mistake));
  if (!mistakes.empty()) print_error("rtctl: nothing was started; docs/sweep-file.md describes the file\n");
  return mistakes.empty() ? parsed.sweep : std::nullopt;
}

Result<fs::path> new_directory(const SweepRunOptions& options, const tune::Sweep& sweep) {
  if (!options.directory.empty()) return absolute_path(options.directory);
  const std::string name = sweep.name.empty() ? fs::path(options.file).stem().string() : sweep.name;
  std::string safe;
  for (const char c : name) safe += std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' ? c : '-';
  const std::string base = fmt::format("rt-results/{}-{:%Y%m%d-%H%M%S}", safe, fmt::localtime(std::time(nullptr)));
  RT_TRY(first, absolute_path(base));
  fs::path directory = first;
  std::error_code error;  // what can't be looked at can't be made either, which is said then
  for (int i = 2; fs::exists(directory, error); ++i) directory = first.string() + "-" + std::to_string(i);
  return directory;
}

std::string next_steps(const fs::path& directory) {
  return fmt::format("Go on with: rtctl tune --resume {}", quoted(directory));
}

void print_end(const tune::Tuner& tuner, const fs::path& directory, Loudness loudness) {
  const tune::Results results = tune::results_of(tuner.history());
  if (results.best) {
    const tune::Row& best = results.rows[*results.best];
    print("Best: trial {} with {} {} at iteration {}: {}\n", best.trial, results.metric,
          best.best_metric ? tune::number_text(*best.best_metric) : "-",
          best.best_iteration.value_or(best.iteration.value_or(0)), tune::parameters_text(best.parameters));
    if (!best.checkpoint.empty())
      print("Its checkpoint (iteration {}, {} {}): {}\n", best.checkpoint_iteration, results.metric,
            best.checkpoint_metric ? tune::number_text(*best.checkpoint_metric) : "-",
            (directory / best.checkpoint).string());
  } else if (loudness != Loudness::Quiet) {
    print("No trial reported {}.\n", results.metric.empty() ? "a metric" : results.metric);
  }
  if (!results.cause.empty()) print("{}\n", results.cause);
  print("Look again: rtctl tune show {}\n", quoted(directory));
}

// What is said once: where the trials run.
std::string placement(const tune::TrialPlan& plan, const ClusterTotals& totals, const tune::Sweep& sweep,
                      const FoundProgram& found) {
  const std::string what =
      plan.gpus_per_rank > 0 ? fmt::format("{} GPU(s) a rank of {} GPUs", plan.gpus_per_rank, totals.gpus)
                             : fmt::format("{} CPU slot(s) a rank of {}{}", plan.cpus_per_rank, totals.cpus,
                                           totals.gpus == 0 && !sweep.resources.gpus_per_rank ? " (no GPU here)" : "");
  return fmt::format("{} rank(s) a trial, {}; program {}", plan.ranks, what,
                     found.program.empty() ? sweep.command.front() : found.program.string());
}

// The life of one run, in the order in which things can go wrong.
class SweepRun {
 public:
  explicit SweepRun(const SweepRunOptions& options) : options_(options) {}

  int run() {
    SignalWatch signals([this](int count) { on_signal(count); });  // before the first thread, the journal's
    if (const int wrong = load()) return wrong;
    const fs::path folder = fs::path(loaded_.path).parent_path();
    auto found = find_sweep_program(loaded_.sweep, folder.empty() ? "." : folder);
    if (!found) return complain(found.error().message, kWrong);
    auto cluster =
        Cluster::Parts::start({.cpus = options_.cpus, .simulate_gpus = options_.simulate_gpus}, found->job.string());
    if (!cluster) return complain(cluster.error().message, kFailed);
    const auto totals = (*cluster)->client->totals();
    if (!totals) return complain(totals.error().message, kFailed);
    const auto gpus = gpus_per_rank(loaded_.sweep, *totals);
    if (!gpus) return complain(gpus.error().message, kWrong);
    auto plan = make_plan(loaded_.sweep, *found, *gpus, loaded_.directory, **cluster);
    if (!plan) return complain(plan.error().message, kFailed);
    if (const int wrong = make_directory()) return wrong;
    if (options_.loudness != Loudness::Quiet) {
      print("{}\n", placement(*plan, *totals, loaded_.sweep, *found));
      print("Results in {}\n", loaded_.directory.string());
      flush_output();
    }
    return tune(**cluster, *std::move(plan));
  }

 private:
  int load() {
    if (!options_.resume.empty()) return load_old();
    auto text = tune::read_sweep_file(options_.file);
    if (!text) return complain(text.error().message, kWrong);
    auto sweep = check(*text, options_.file, options_.loudness == Loudness::Quiet);
    if (!sweep) return kWrong;
    const auto path = absolute_path(options_.file);
    if (!path) return complain(path.error().message, kWrong);
    loaded_ = {.sweep = *std::move(sweep), .text = *text, .path = path->string()};
    auto directory = new_directory(options_, loaded_.sweep);
    if (!directory) return complain(directory.error().message, kWrong);
    loaded_.directory = *std::move(directory);
    const auto is_old = has_sweep(loaded_.directory);
    if (!is_old) return complain(is_old.error().message, kWrong);
    return *is_old ? refuse_to_begin_anew() : 0;
  }

  // A journal is there already.
  int refuse_to_begin_anew() {
    if (const int wrong = open_journal_in(loaded_.directory)) return wrong;
    if (journal_->contents.records.empty()) return 0;  // killed before its first record: nothing to go on with
    return complain(
        fmt::format("{} holds a sweep already. Go on with it: rtctl tune --resume {}, or give another --dir",
                    loaded_.directory.string(), quoted(loaded_.directory)),
        kWrong);
  }

  // Once nothing is wrong with the sweep, so that a refused one leaves no folder.
  int make_directory() {
    if (!journal_) {
      std::error_code error;
      fs::create_directories(loaded_.directory, error);
      if (error) return complain("cannot make " + loaded_.directory.string() + ": " + error.message(), kWrong);
      if (const int wrong = open_journal_in(loaded_.directory)) return wrong;
    }
    const std::lock_guard lock(mutex_);
    next_steps_ = next_steps(loaded_.directory);
    return 0;
  }

  int load_old() {
    const auto directory = absolute_path(options_.resume);
    if (!directory) return complain(directory.error().message, kWrong);
    loaded_.directory = directory->lexically_normal();
    if (const auto found = require_sweep(loaded_.directory); !found) return complain(found.error().message, kWrong);
    if (const int wrong = open_journal_in(loaded_.directory)) return wrong;
    for (const std::string& bytes : journal_->contents.records) {
      auto record = tune::decode(bytes);
      if (!record)
        return complain("the journal in " + (loaded_.directory / "tune").string() + ": " + record.error().message,
                        kFailed);
      loaded_.records.push_back(*std::move(record));
    }
    if (loaded_.records.empty())
      return complain("the sweep in " + loaded_.directory.string() + " ended before it began; start it again", kWrong);
    const auto* started = std::get_if<tune::SweepStarted>(&loaded_.records.front());
    if (!started)
      return complain("the journal in " + loaded_.directory.string() + " doesn't begin with a sweep", kFailed);
    loaded_.text = started->text;
    loaded_.path = started->path;
    auto sweep = check(started->text, started->path, /*quiet=*/true);
    if (!sweep) return kWrong;
    loaded_.sweep = *std::move(sweep);
    tell_of_changed_file();
    return 0;
  }

  void tell_of_changed_file() const {
    const auto now = tune::read_sweep_file(loaded_.path);
    if (now && *now != loaded_.text)
      print_error(
          "rtctl: {} has changed since this sweep began; it goes on as recorded (a new sweep takes the new one)\n",
          loaded_.path);
  }

  int open_journal_in(const fs::path& directory) {
    auto opened = open_journal(directory / "tune");
    if (!opened) return complain(opened.error().message, kFailed);
    journal_ = *std::move(opened);
    for (const std::string& notice : journal_->notices) print_error("rtctl: {}\n", notice);
    return 0;
  }

  int tune(Cluster::Parts& cluster, tune::TrialPlan plan) {
    tune::Tuner tuner(loaded_.sweep);
    tune::Outcome first;
    if (loaded_.records.empty()) {
      first = tuner.start({.text = loaded_.text,
                           .path = loaded_.path,
                           .seed = loaded_.sweep.seed,
                           .program = plan.job.path,
                           .program_hash = plan.job.hash,
                           .time_ms = now_ms()});
    } else {
      warn_of_another_program(plan.job.hash);
      auto replayed = tune::Tuner::replay(loaded_.sweep, loaded_.records);
      if (!replayed) return complain(replayed.error().message, kFailed);
      tuner = *std::move(replayed);
      RT_CRASH_POINT("tune.replayed");
      // What has ended is gone through once more: a kill may have left checkpoints whose deletion is recorded.
      if (tuner.history().ended() && options_.loudness != Loudness::Quiet) print("The sweep has ended already.\n");
      first = tuner.resume({.run_id = cluster.embedded->folder().id(), .term = journal_->term, .time_ms = now_ms()});
    }
    return drive(cluster, std::move(plan), std::move(tuner), std::move(first));
  }

  void warn_of_another_program(const std::string& hash) const {
    const auto& started = std::get<tune::SweepStarted>(loaded_.records.front());
    if (started.program_hash != hash && !loaded_.sweep.trainable.empty())
      print_error("rtctl: the program has changed since this sweep began; what is left of it runs the new one\n");
  }

  int drive(Cluster::Parts& cluster, tune::TrialPlan plan, tune::Tuner tuner, tune::Outcome first) {
    std::int64_t ended_before = 0;
    for (const auto& trial : tuner.history().trials()) ended_before += trial.ended.has_value();
    SweepView view(options_.loudness, ended_before);
    tune::Runner runner(std::move(tuner), std::move(journal_->journal), cluster, std::move(plan),
                        {.on_record = [&](const tune::Record& r, const tune::Tuner& t) { view.on_record(r, t); },
                         .on_tick = [&](const tune::Tuner& t) { view.on_tick(t); }});
    set_runner(&runner);
    const Status done = runner.run(std::move(first));
    set_runner(nullptr);
    view.finish(runner.tuner());
    if (!done) return complain(done.error().message + "\n" + next_steps(loaded_.directory), kFailed);
    const auto& history = runner.tuner().history();
    if (history.is_interrupted() && !history.ended()) {
      const std::string told = fmt::format("{}. {}", history.interrupted()->cause, next_steps(loaded_.directory));
      if (!interrupted_) return complain("stopped: " + told, kFailed);
      print("Stopped: {}\n", told);
      return kInterrupted;
    }
    print_end(runner.tuner(), loaded_.directory, options_.loudness);
    return failed_wholly(history) ? kFailed : 0;
  }

  static bool failed_wholly(const tune::History& history) {
    for (const auto& trial : history.trials())
      if (trial.ended != tune::EndReason::Failed && trial.ended != tune::EndReason::GivenUp) return false;
    return !history.trials().empty();
  }

  void set_runner(tune::Runner* runner) {
    const std::lock_guard lock(mutex_);
    runner_ = runner;
    if (runner_ && interrupted_) runner_->interrupt();
  }

  void on_signal(int count) {
    const std::lock_guard lock(mutex_);
    interrupted_ = true;
    if (count >= 2) {
      // The agent sees this process go and kills every tree within 2 s; nothing that is recorded is lost.
      print_error("\nrtctl: killed. {}\n", next_steps_);
      ::_exit(kInterrupted);
    }
    print_error("\nrtctl: stopping: the trials under way are saved first (Ctrl-C again kills)\n");
    if (runner_) runner_->interrupt();
  }

  const SweepRunOptions options_;
  LoadedSweep loaded_;
  std::optional<OpenedJournal> journal_;
  std::mutex mutex_;  // guards what the signal's thread touches
  tune::Runner* runner_ = nullptr;
  bool interrupted_ = false;
  std::string next_steps_;  // empty: nothing has been started yet
};

}  // namespace

int run_sweep(const SweepRunOptions& options) { return SweepRun(options).run(); }

}  // namespace rt
