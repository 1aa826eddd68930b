#pragma once
// Dataset: labelled rows in memory, ready to be trained on: features scaled to 0..1, labels counted from 0.
//
// A value: whoever reads it owns it, and it is constant from then on, so ranks and threads may share it.
// Always: features.size() == rows * columns, labels.size() == rows, 0 <= label < classes, 0 <= feature <= 1.

#include <cstdint>
#include <vector>

namespace rt::train {

struct Dataset {
  std::int64_t rows = 0;
  std::int64_t columns = 0;          // features a row
  std::vector<float> features;       // row-major: feature c of row r is at r * columns + c
  std::vector<std::int64_t> labels;  // one a row
  std::int64_t classes = 0;
};

// What is fitted on, and what is only looked at.
struct TrainAndTest {
  Dataset train;
  Dataset test;
};

// The rows `indices` of `data`, in that order; each 0 <= index < data.rows. An index may come twice.
Dataset select(const Dataset& data, const std::vector<std::int64_t>& indices);

}  // namespace rt::train
