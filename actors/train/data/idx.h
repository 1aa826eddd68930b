#pragma once
// IDX: the format of MNIST's files (http://yann.lecun.com/exdb/mnist): a magic number 0 0 TYPE DIMENSIONS, each
// dimension as a big-endian 32-bit number, then the values, here always unsigned bytes. Images and labels lie in files
// of their own, compressed by gzip or not.
//
// Danger: a header may claim anything. Nothing is allocated on its word: memory grows with the bytes that are there,
// up to kMaxIdxBytes a file.

#include <cstdint>
#include <filesystem>

#include "rt/actors/train/data/dataset.h"
#include "rt/runtime/base/result.h"

namespace rt::train {

inline constexpr std::int64_t kMaxIdxBytes = 1LL << 30;  // values in one file; MNIST's largest has 47 million

// One set: `images` has 3 dimensions (rows, height, width), `labels` has 1, and both count the same rows. The features
// are pixel / 255; labels are 0..9. Code::NotFound, or Code::Corrupt with the file, what was wanted and what was seen.
Result<Dataset> read_idx(const std::filesystem::path& images, const std::filesystem::path& labels);

// The four files of MNIST in `folder`: train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and
// t10k-labels-idx1-ubyte, each also spelt with a dot (train-images.idx3-ubyte) and with .gz behind. Both sets must be
// of the same width.
Result<TrainAndTest> read_mnist(const std::filesystem::path& folder);

}  // namespace rt::train
