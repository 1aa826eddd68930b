#include "rt/tune/scheduler.h"

#include "rt/tune/asha.h"
#include "rt/tune/fifo.h"
#include "rt/tune/sweep.h"

namespace rt::tune {

std::unique_ptr<Scheduler> make_scheduler(const Sweep& sweep) {
  if (sweep.asha && sweep.metric) return std::make_unique<Asha>(*sweep.asha, sweep.metric->goal);
  return std::make_unique<Fifo>();
}

}  // namespace rt::tune
