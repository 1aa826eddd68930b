#pragma once
// What a person sees of a sweep in a terminal: the live frame, the table at the end, and, where the output is piped,
// one line an event. Pure text without colours or cursor movements; no line is wider than asked.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rt/tune/results.h"

namespace rt::tune {

struct Terminal {
  std::size_t width = 80;
  std::size_t height = 24;  // of the frame: never more lines than this
};

struct Progress {
  double elapsed_seconds = 0;     // since this run of the tuner began
  std::int64_t ended_before = 0;  // trials that had ended when it began
};

// "12 of 27 trials, 3 running, 0 failed, best accuracy 0.978 (trial 0004), 0:42 elapsed, about 1:10 left"
std::string headline(const Results& results, const Progress& progress);

// The headline, then as many trials as there is room for: running ones first, then the best, then the others by value.
std::vector<std::string> live_frame(const Results& results, const Progress& progress, Terminal terminal);

// All trials, the best first, those without a value last.
std::vector<std::string> final_table(const Results& results, std::size_t width);

// What a record means to a person, once `history` has applied it: a trial started, a report at a milestone, a failure
// with its last log lines, an end. Nothing for records that are of no interest. May hold several lines.
std::optional<std::string> event_line(const Record& record, const History& history);

// How long the sweep still takes if trials go on ending at this run's rate; nothing before the first has ended, or
// where the search has no end.
std::optional<double> seconds_left(std::int64_t ended, std::optional<std::int64_t> planned, const Progress& progress);

// 42 -> "0:42", 3725 -> "1:02:05".
std::string duration_text(double seconds);

// "lr=0.01 opt.name=adam": numbers to four digits.
std::string parameters_text(const Value& parameters);

// Four significant digits: 0.9781, 1.2e-05, nan.
std::string number_text(double value);

}  // namespace rt::tune
