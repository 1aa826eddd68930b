#pragma once
// Fifo: the scheduler that stops nothing. Trials run, in the order they were started, until they end by themselves or
// by the sweep's `stop`.

#include "rt/tune/scheduler.h"

namespace rt::tune {

class Fifo final : public Scheduler {
 public:
  Decision on_report(std::int64_t, std::int64_t, double) override { return Decision::Continue; }
  std::optional<std::int64_t> next_rung(std::int64_t) const override { return std::nullopt; }
  int rungs_reached(std::int64_t) const override { return 0; }
};

}  // namespace rt::tune
