#pragma once
// Split: which rows are trained on and which are only looked at, with every class in the same proportion in both.
//
// To the index what scikit-learn gives for train_test_split(range(n), test_size=test_size, stratify=labels,
// random_state=seed), so that results can be held against those of Python programs. That rests on NumPy's RandomState,
// which is frozen (NEP 19), and on scikit-learn's StratifiedShuffleSplit; checked against scikit-learn 1.9.1 with
// NumPy 2.4.6.
//
// Pure: the seed decides all.

#include <cstdint>
#include <vector>

#include "rt/actors/train/data/dataset.h"
#include "rt/runtime/base/result.h"

namespace rt::train {

struct Split {
  std::vector<std::int64_t> train;  // row numbers, shuffled
  std::vector<std::int64_t> test;
};

// 0 < test_size < 1; the test part has ceil(test_size * n) rows. Code::Invalid where a class has fewer than two rows,
// or a part fewer rows than there are classes.
Result<Split> stratified_split(const std::vector<std::int64_t>& labels, double test_size, std::uint32_t seed);

// The same, with the rows themselves.
Result<TrainAndTest> stratified_split(const Dataset& data, double test_size, std::uint32_t seed);

}  // namespace rt::train
