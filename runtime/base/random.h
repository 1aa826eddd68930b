#pragma once
// Random: random numbers that a seed repeats on any machine and with any standard library.
//
// The generator is xoshiro256** (Blackman and Vigna 2018), filled from the seed by SplitMix64. The distributions are
// our own, because those of <random> differ between libraries. Where decisions are made it is passed in, never global.
// Owner: whoever draws; a plain value, a copy draws the same numbers. Thread: one at a time.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "rt/runtime/base/result.h"

namespace rt {

// The next output of SplitMix64 (Steele, Lea and Flood 2014), whose state is one number.
std::uint64_t splitmix64(std::uint64_t& state);

// A seed for stream `stream` of `seed`: output number `stream` (from 0) of SplitMix64 started at `seed`. Streams of
// one seed are independent for all practical purposes; use one for each trial, rank or purpose.
std::uint64_t split(std::uint64_t seed, std::uint64_t stream);

class Random {
 public:
  using State = std::array<std::uint64_t, 4>;

  explicit Random(std::uint64_t seed);
  explicit Random(const State& state) : state_(state) {}

  // All 64 bits.
  std::uint64_t next();

  // In [0, 1), a multiple of 2^-53.
  double uniform();

  // In [low, high): low + (high - low) * uniform().
  double uniform(double low, double high);

  // In [0, count), each equally likely; count > 0. Lemire 2019, "Fast random integer generation in an interval".
  std::uint64_t below(std::uint64_t count);

  // In [low, high], both ends included; low <= high.
  std::int64_t integer(std::int64_t low, std::int64_t high);

  // Mean 0, deviation 1. Box and Muller 1958; takes two numbers, keeps none.
  double normal();

  // Fisher and Yates: each order equally likely.
  template <class T>
  void shuffle(std::span<T> values) {
    for (std::size_t left = values.size(); left > 1; --left) std::swap(values[left - 1], values[below(left)]);
  }

  // The state as four hexadecimal numbers; `restore` of it draws on from there. Invalid: anything else.
  std::string save() const;
  static Result<Random> restore(std::string_view text);

  bool operator==(const Random&) const = default;

 private:
  State state_;  // never all zero
};

}  // namespace rt
