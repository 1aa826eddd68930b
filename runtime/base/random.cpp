#include "rt/runtime/base/random.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <numbers>

namespace rt {
namespace {

constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15;  // 2^64 divided by the golden ratio: SplitMix64's step

}  // namespace

std::uint64_t splitmix64(std::uint64_t& state) {
  std::uint64_t z = state += kGolden;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

std::uint64_t split(std::uint64_t seed, std::uint64_t stream) {
  std::uint64_t state = seed + stream * kGolden;
  return splitmix64(state);
}

Random::Random(std::uint64_t seed) {
  for (std::uint64_t& word : state_) word = splitmix64(seed);
}

std::uint64_t Random::next() {
  const std::uint64_t output = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return output;
}

double Random::uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

double Random::uniform(double low, double high) { return low + (high - low) * uniform(); }

std::uint64_t Random::below(std::uint64_t count) {
  const std::uint64_t too_low = -count % count;  // 2^64 mod count: so many products would favour some values
  while (true) {
    const auto product = static_cast<unsigned __int128>(next()) * count;
    if (static_cast<std::uint64_t>(product) >= too_low) return static_cast<std::uint64_t>(product >> 64);
  }
}

std::int64_t Random::integer(std::int64_t low, std::int64_t high) {
  const std::uint64_t count = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
  const std::uint64_t offset = count == 0 ? next() : below(count);  // 0: the whole range of 64 bits
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + offset);
}

double Random::normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

std::string Random::save() const {
  return fmt::format("{:016x} {:016x} {:016x} {:016x}", state_[0], state_[1], state_[2], state_[3]);
}

Result<Random> Random::restore(std::string_view text) {
  State state{};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::size_t i = 0; i < state.size(); ++i) {
    if (i > 0 && at != end && *at == ' ') ++at;
    const auto [after, code] = std::from_chars(at, end, state[i], 16);
    if (code != std::errc{} || after - at != 16) at = nullptr;
    if (!at) break;
    at = after;
  }
  if (at != end || state == State{}) {
    return Error{Code::Invalid, fmt::format("'{}' is no state of a random generator: four hexadecimal numbers of 16 "
                                            "digits, not all zero, were expected",
                                            text)};
  }
  return Random(state);
}

}  // namespace rt
