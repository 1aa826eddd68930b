#include "rt/tune/searcher.h"

#include "rt/tune/sweep.h"

namespace rt::tune {

std::unique_ptr<Searcher> make_searcher(const Sweep& sweep) {
  if (sweep.method == Method::Grid) return make_grid(sweep.space, sweep.run_cap);
  return make_random(sweep.space, sweep.seed, sweep.run_cap);
}

}  // namespace rt::tune
