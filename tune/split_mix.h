#pragma once
// SplitMix: a stream of uniform numbers from a 64-bit state: Steele, Lea, Flood 2014, "Fast splittable pseudorandom
// number generators", with the constants of Vigna's reference code.
// A value. The same state gives the same numbers everywhere.

#include <cstdint>

namespace rt::tune {

class SplitMix {
 public:
  explicit SplitMix(std::uint64_t state) : state_(state) {}

  // The stream of `index` under `seed`: streams begin at mixed, so unrelated, places.
  static SplitMix of(std::uint64_t seed, std::uint64_t index) {
    SplitMix first(seed);
    SplitMix second(first.next() ^ index);
    return SplitMix(second.next());
  }

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }

  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }  // in [0,1)

 private:
  std::uint64_t state_;
};

}  // namespace rt::tune
