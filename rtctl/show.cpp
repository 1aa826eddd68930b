#include "rt/rtctl/show.h"

#include <filesystem>

#include "rt/rtctl/commands.h"
#include "rt/rtctl/paths.h"
#include "rt/rtctl/print.h"
#include "rt/rtctl/view.h"
#include "rt/runtime/base/journal_reader.h"
#include "rt/tune/results.h"

namespace rt {
namespace {

namespace fs = std::filesystem;

Result<tune::History> read_history(const fs::path& directory) {
  RT_CHECK(require_sweep(directory));
  RT_TRY(reader, JournalReader::open(directory / "tune"));
  RT_TRY(records, reader.poll());
  std::optional<tune::History> history;
  for (const std::string& bytes : records) {
    RT_TRY(record, tune::decode(bytes));
    if (!history) {
      const auto* started = std::get_if<tune::SweepStarted>(&record);
      if (!started) return Error{Code::Corrupt, "the journal doesn't begin with a sweep"};
      auto parsed = tune::parse_sweep(started->text, started->path);
      if (!parsed.sweep) return Error{Code::Corrupt, "the journal's sweep file can't be read any more"};
      history.emplace(*parsed.sweep);
    }
    RT_CHECK(history->apply(record));
  }
  if (!history) return Error{Code::NotFound, "the sweep in " + directory.string() + " ended before it began"};
  return *std::move(history);
}

}  // namespace

int show_sweep(const ShowOptions& options) {
  const auto history = read_history(options.directory);
  if (!history) return complain(history.error().message, kWrong);
  const tune::Results results = tune::results_of(*history);
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
