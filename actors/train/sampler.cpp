#include "rt/actors/train/sampler.h"

#include <ATen/CPUGeneratorImpl.h>
#include <torch/types.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "rt/runtime/base/result.h"

namespace rt::train {
namespace {

std::vector<std::int64_t> permutation(std::int64_t rows, std::uint64_t seed) {
  auto generator = at::make_generator<at::CPUGeneratorImpl>(seed);
  const auto order = torch::randperm(rows, generator, torch::TensorOptions().dtype(torch::kLong));
  const auto* first = order.const_data_ptr<std::int64_t>();
  return {first, first + rows};
}

// Rows that each rank gets. Where the tail is cut, PyTorch rounds (rows - size) / size up, which is rows / size rounded
// down.
std::int64_t rows_per_rank(const SamplerOptions& options) {
  return options.drop_last ? options.rows / options.size : (options.rows + options.size - 1) / options.size;
}

}  // namespace

DistributedSampler::DistributedSampler(const SamplerOptions& options) : options_(options) {
  if (options.rows < 1)
    throw Exception({Code::Invalid, "a sampler needs a data set with rows, seen " + std::to_string(options.rows)});
  if (options.size < 1 || options.rank < 0 || options.rank >= options.size)
    throw Exception({Code::Invalid, "a sampler for rank " + std::to_string(options.rank) + " of " +
                                        std::to_string(options.size) + ": the rank must be from 0 to size - 1"});
  set_epoch(0);
}

void DistributedSampler::set_epoch(std::uint64_t epoch) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(options_.rows));
  if (options_.shuffle) {
    order = permutation(options_.rows, options_.seed + epoch);
  } else {
    std::iota(order.begin(), order.end(), 0);
  }
  const std::int64_t per_rank = rows_per_rank(options_);
  rows_.resize(static_cast<std::size_t>(per_rank));
  for (std::int64_t i = 0; i < per_rank; ++i) {
    // Past the end it starts over: that is the padding.
    rows_[static_cast<std::size_t>(i)] =
        order[static_cast<std::size_t>((i * options_.size + options_.rank) % options_.rows)];
  }
  epoch_ = epoch;
  position_ = 0;
}

std::span<const std::int64_t> DistributedSampler::next(std::int64_t count) {
  const std::int64_t left = static_cast<std::int64_t>(rows_.size()) - position_;
  const std::int64_t taken = std::clamp<std::int64_t>(count, 0, left);
  const std::span<const std::int64_t> batch(rows_.data() + position_, static_cast<std::size_t>(taken));
  position_ += taken;
  return batch;
}

void DistributedSampler::seek(std::uint64_t epoch, std::int64_t position) {
  if (position < 0 || position > static_cast<std::int64_t>(rows_.size()))
    throw Exception({Code::Invalid, "a sampler can't go on at row " + std::to_string(position) + " of " +
                                        std::to_string(rows_.size()) +
                                        ": the state is of another data set or another number of ranks"});
  set_epoch(epoch);
  position_ = position;
}

}  // namespace rt::train
