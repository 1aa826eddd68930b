#include "rt/actors/train/data/dataset.h"

namespace rt::train {

Dataset select(const Dataset& data, const std::vector<std::int64_t>& indices) {
  Dataset chosen{.rows = static_cast<std::int64_t>(indices.size()), .columns = data.columns, .classes = data.classes};
  chosen.features.reserve(indices.size() * static_cast<std::size_t>(data.columns));
  chosen.labels.reserve(indices.size());
  for (const std::int64_t row : indices) {
    const auto begin = data.features.begin() + row * data.columns;
    chosen.features.insert(chosen.features.end(), begin, begin + data.columns);
    chosen.labels.push_back(data.labels[static_cast<std::size_t>(row)]);
  }
  return chosen;
}

}  // namespace rt::train
