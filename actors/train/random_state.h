#pragma once
// Random state of a rank: equal where ranks must be equal (initial weights), different where they must differ
// (dropout), and kept in checkpoints, so that a resumed run draws the same numbers.
//
// It is LibTorch's own default generators, one a process and device: nothing here holds state. Thread: the one that
// trains.

#include <torch/types.h>

#include <cstdint>

#include "rt/runtime/base/result.h"

namespace rt::train {

// Before the model is built: the same on all ranks.
void seed_weights(std::uint64_t seed);

// After the model is built: each rank draws a stream of its own.
void seed_rank(std::uint64_t seed, int rank);

// The state of the default generator of `device`, as a tensor of bytes on the CPU.
torch::Tensor random_state(torch::Device device);

// Code::Corrupt where `state` isn't one that random_state returned for such a device.
Status set_random_state(torch::Device device, const torch::Tensor& state);

}  // namespace rt::train
