#pragma once
// `rt-torch bench train`: two ranks, forked and each pinned to a core of its own with one thread, run the training step
// through DataParallel and as a bare loop in turn. One JSON line on standard output: the medians over the pairs, and
// the median of the pairs' own ratios.

#include "rt/runtime/base/result.h"

namespace rt::train {

struct BenchTrainOptions {
  int steps = 40;  // of each form in one pair
  int pairs = 75;
};

Status bench_train(const BenchTrainOptions& options);

}  // namespace rt::train
