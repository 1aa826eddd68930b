#pragma once
// DistributedSampler: which rows of a data set a rank trains on, and in which order. To the index what PyTorch's
// torch.utils.data.DistributedSampler gives (torch 2.15), so that a run can be held against a Python one: a permutation
// of torch.randperm seeded with seed + epoch, padded with its own start (or cut) to a multiple of the ranks, of which
// rank r takes every size-th row from r on.
//
// Owner: the trainable. Thread: one. It draws from a generator of its own: neither dropout nor anything else shifts it.
// Invariant: same seed and epoch, same order, on any rank count; all ranks get equally many rows.
// Danger: without set_epoch each epoch comes in the same order.

#include <cstdint>
#include <span>
#include <vector>

namespace rt::train {

struct SamplerOptions {
  std::int64_t rows = 0;  // of the data set, > 0
  int rank = 0;           // 0 .. size-1
  int size = 1;
  std::uint64_t seed = 0;
  bool shuffle = true;
  bool drop_last = false;  // cut the tail off instead of repeating rows
};

class DistributedSampler {
 public:
  // Throws rt::Exception (Code::Invalid) where the options can't be.
  explicit DistributedSampler(const SamplerOptions& options);

  // Starts `epoch` from its first row.
  void set_epoch(std::uint64_t epoch);

  // The next up to `count` rows of this rank; fewer at the epoch's end, then none. Valid until set_epoch or seek.
  std::span<const std::int64_t> next(std::int64_t count);

  const std::vector<std::int64_t>& rows() const { return rows_; }  // all of this epoch, in order
  std::uint64_t epoch() const { return epoch_; }
  std::int64_t position() const { return position_; }  // rows of this epoch already given

  // Goes on where another sampler of the same options was. 0 <= position <= rows().size(), else rt::Exception.
  void seek(std::uint64_t epoch, std::int64_t position);

 private:
  SamplerOptions options_;
  std::uint64_t epoch_ = 0;
  std::int64_t position_ = 0;
  std::vector<std::int64_t> rows_;
};

}  // namespace rt::train
