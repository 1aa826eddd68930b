#pragma once
// ReportReader: makes reports of the lines that a program writes to RT_REPORT, and forgives what programs do wrong.
//
//   {"step": 3, "loss": 0.2, "accuracy": 0.9, "checkpoint": "step-3"}
//
// `step` is a whole number up to 2^53 and grows; a step seen before is ignored and counted. `checkpoint` is text. All
// else is a number, or NaN, Infinity or -Infinity as Python prints them, in quotes or not; null is NaN. A value of
// another kind is left out. A line that is no JSON object with a step, or is over 1 MiB, is ignored and counted.
//
// Owner: the rank that reads. Thread: the owner's. Pure: bytes come in, reports go out, lazily, so memory is bounded by
// one line and what was appended since `next` last gave nothing.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rt/actors/trainable.h"

namespace rt {

struct ReportLine {
  std::uint64_t step = 0;
  Metrics metrics;
  std::string checkpoint;  // as the program wrote it; empty: none
  bool operator==(const ReportLine&) const = default;
};

struct IgnoredReports {
  std::uint64_t malformed = 0;  // lines
  std::uint64_t repeated = 0;   // lines whose step doesn't grow
  std::uint64_t values = 0;     // values in lines that count
  bool operator==(const IgnoredReports&) const = default;
};

class ReportReader {
 public:
  static constexpr std::size_t kLongestLine = std::size_t{1} << 20;  // bytes

  // `last_step`: that of the checkpoint a program goes on from; none from the start, when step 0 counts too.
  explicit ReportReader(std::optional<std::uint64_t> last_step = std::nullopt) : last_step_(last_step) {}

  void append(std::string_view bytes);

  // Nothing more will come: what stands behind the last newline is a line of its own.
  void finish();

  // The next report; none while no whole line has come.
  std::optional<ReportLine> next();

  const IgnoredReports& ignored() const { return ignored_; }

  // Why the first malformed line, and the first value left out, were; each said once, for a person. Empty: nothing new.
  std::string take_complaint();

 private:
  std::optional<std::string_view> next_line();
  std::optional<ReportLine> parse(std::string_view line);
  void complain(std::uint64_t& count, const std::string& why, std::string_view line);

  std::string buffer_;
  std::size_t begin_ = 0;  // where in buffer_ the next line begins
  bool skipping_ = false;  // inside a line that was too long
  std::optional<std::uint64_t> last_step_;
  IgnoredReports ignored_;
  std::string complaint_;
};

}  // namespace rt
