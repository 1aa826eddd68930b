#include "rt/rtctl/show.h"

#include <filesystem>
#include <optional>
#include <set>

#include "rt/rtctl/commands.h"
#include "rt/rtctl/paths.h"
#include "rt/rtctl/print.h"
#include "rt/rtctl/view.h"
#include "rt/runtime/base/journal_reader.h"
#include "rt/runtime/base/lock_holder.h"
#include "rt/tune/results.h"

namespace rt {
namespace {

namespace fs = std::filesystem;

// What a sweep's journal says, and whether a tuner writes it now.
struct Shown {
  tune::History history;
  bool is_written = false;
  std::set<tune::TrialIndex> launched;  // by the run that wrote last
};

// `records`: at least one.
Result<Shown> read_sweep(const std::vector<std::string>& records) {
  std::optional<Shown> shown;
  for (const std::string& bytes : records) {
    RT_TRY(record, tune::decode(bytes));
    if (!shown) {
      const auto* started = std::get_if<tune::SweepStarted>(&record);
      if (!started) return Error{Code::Corrupt, "the journal doesn't begin with a sweep"};
      auto parsed = tune::parse_sweep(started->text, started->path);
      if (!parsed.sweep) return Error{Code::Corrupt, "the journal's sweep file can't be read any more"};
      shown.emplace(Shown{.history = tune::History(*parsed.sweep)});
    }
    RT_CHECK(shown->history.apply(record));
    if (std::holds_alternative<tune::Resumed>(record)) shown->launched.clear();
    if (const auto* launch = std::get_if<tune::GenerationStarted>(&record)) shown->launched.insert(launch->trial);
  }
  return *std::move(shown);
}

Result<Shown> read_directory(const fs::path& directory) {
  RT_CHECK(require_sweep(directory));
  const bool is_written = lock_holder(directory / "tune/lock").has_value();  // first: what it writes last is read then
  RT_TRY(reader, JournalReader::open(directory / "tune"));
  RT_TRY(records, reader.poll());
  if (records.empty())
    return Error{Code::NotFound, "the sweep in " + directory.string() +
                                     (is_written ? " is only just beginning; look again" : " ended before it began")};
  RT_TRY(shown, read_sweep(records));
  shown.is_written = is_written;
  return shown;
}

tune::Results results_of(const Shown& shown) {
  if (!shown.is_written) return tune::results_of(shown.history);
  tune::Results results =
      tune::results_of(shown.history, [&](tune::TrialIndex trial) { return shown.launched.contains(trial); });
  if (shown.history.ended()) return results;
  results.state = "running";  // also while it is being stopped, and until a resumed one has its first record
  results.cause.clear();
  return results;
}

}  // namespace

int show_sweep(const ShowOptions& options) {
  const auto shown = read_directory(options.directory);
  if (!shown) return complain(shown.error().message, kWrong);
  const tune::Results results = results_of(*shown);
  if (options.json)
    print("{}\n", tune::to_json(results));
  else if (options.csv)
    print_text(tune::to_csv(results));
  else {
    for (const std::string& line : tune::final_table(results, terminal_size().width)) print("{}\n", line);
    print("{} {}\n", results.state, results.cause);
  }
  return with_output_written(0);
}

}  // namespace rt
