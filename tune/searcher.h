#pragma once
// Searcher: proposes the parameters of each trial.
//
// Owner: the tuner, one for a sweep. Thread: the owner's. Pure: what is proposed for a trial depends on the sweep and
// the trial's number alone, so trials can be asked for in any order, again, and after a restart, with the same answer.
// A new searcher is one class of this interface, one test, one line in make_searcher.

#include <cstdint>
#include <memory>
#include <optional>

#include "rt/tune/space.h"

namespace rt::tune {

struct Sweep;

class Searcher {
 public:
  virtual ~Searcher() = default;

  // The parameters (an object) of trial `trial`, from 0; nothing from the first number on that the search doesn't have.
  virtual std::optional<Value> suggest(std::int64_t trial) const = 0;

  // How many trials there are in all; nothing where the search has no end.
  virtual std::optional<std::int64_t> size() const = 0;
};

// Every point once: leaves sorted by their names, level by level; the last runs fastest. A value that a list names
// again is no second point. Each leaf of `space` must have a finite number of points: see grid_points.
std::unique_ptr<Searcher> make_grid(const Space& space, std::optional<std::int64_t> run_cap);

// The number of points that a grid has along a distribution: categorical without probabilities, constant, int_uniform,
// q_uniform. Nothing for all others; the largest number where there are more points than it can count.
std::optional<std::int64_t> grid_points(const Distribution& distribution);

// Independent draws; those of a trial come from a stream of its own, made of `seed` and the trial's number.
std::unique_ptr<Searcher> make_random(const Space& space, std::uint64_t seed, std::optional<std::int64_t> run_cap);

// The one that the sweep's `method` names. The searcher holds a copy of the space.
std::unique_ptr<Searcher> make_searcher(const Sweep& sweep);

}  // namespace rt::tune
