#pragma once
// Scheduler: decides at each report of a trial whether it goes on.
//
// Owner: the tuner, one for a sweep. Thread: the owner's. Pure: no clock, no chance; the same reports in the same order
// give the same decisions, so after a restart its state is rebuilt by replaying the journal's reports through
// `on_report`, and nothing of it is ever written.
// A new scheduler is one class of this interface, one test, one line in make_scheduler.

#include <cstdint>
#include <memory>
#include <optional>

namespace rt::tune {

struct Sweep;

enum class Goal { Minimize, Maximize };

enum class Decision { Continue, Stop };

class Scheduler {
 public:
  virtual ~Scheduler() = default;

  // Trial `trial` (0, 1, ...) reached `step` (1, 2, ...; growing within a trial) with `value` of the sweep's metric,
  // which may be nan.
  virtual Decision on_report(std::int64_t trial, std::int64_t step, double value) = 0;

  // The first step after `step` at which a decision can fall: a milestone, where a checkpoint is worth its price.
  // Nothing where no such step will come.
  virtual std::optional<std::int64_t> next_rung(std::int64_t step) const = 0;

  // How many rungs lie at or below `step`, for the table a person sees.
  virtual int rungs_reached(std::int64_t step) const = 0;
};

// The one that the sweep names; Fifo where it names none.
std::unique_ptr<Scheduler> make_scheduler(const Sweep& sweep);

}  // namespace rt::tune
