#include "rt/actors/train/random_state.h"

#include <ATen/Context.h>

#include <mutex>

namespace rt::train {
namespace {

// SplitMix64's finaliser (Steele, Lea and Flood 2014): neighbouring seeds and ranks give unrelated streams.
std::uint64_t mixed(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15U;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31);
}

at::Generator generator_of(torch::Device device) { return at::globalContext().defaultGenerator(device); }

}  // namespace

void seed_weights(std::uint64_t seed) { at::manual_seed(seed); }

void seed_rank(std::uint64_t seed, int rank) { at::manual_seed(mixed(mixed(seed) + static_cast<std::uint64_t>(rank))); }

torch::Tensor random_state(torch::Device device) {
  auto generator = generator_of(device);
  const std::lock_guard lock(generator.mutex());
  return generator.get_state();
}

Status set_random_state(torch::Device device, const torch::Tensor& state) {
  auto generator = generator_of(device);
  try {
    const std::lock_guard lock(generator.mutex());
    generator.set_state(state);
    return Unit{};
  } catch (const std::exception& error) {
    return Error{Code::Corrupt, std::string("no random state of a ") + device.str() + ": " + error.what()};
  }
}

}  // namespace rt::train
