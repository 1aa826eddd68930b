#include "rt/actors/train/data/split.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <string>

namespace rt::train {
namespace {

using Indices = std::vector<std::int64_t>;

// NumPy's RandomState: MT19937 seeded with init_genrand, which is what std::mt19937 does.
class RandomState {
 public:
  explicit RandomState(std::uint32_t seed) : engine_(seed) {}

  // RandomState.permutation(values): Fisher-Yates from the end.
  Indices permutation(Indices values) {
    for (std::size_t i = values.size(); i-- > 1;) std::swap(values[i], values[interval(i)]);
    return values;
  }

  // RandomState.choice(values, size, replace=False)
  Indices choice(const Indices& values, std::size_t size) {
    Indices positions(values.size());
    std::iota(positions.begin(), positions.end(), 0);
    positions = permutation(std::move(positions));
    Indices chosen;
    for (std::size_t i = 0; i < size; ++i) chosen.push_back(values[static_cast<std::size_t>(positions[i])]);
    return chosen;
  }

 private:
  // NumPy's legacy random_interval: 0..most by masked rejection, for most < 2^32.
  std::size_t interval(std::size_t most) {
    const std::size_t mask = std::bit_ceil(most + 1) - 1;
    while (true) {
      const std::size_t value = engine_() & mask;
      if (value <= most) return value;
    }
  }

  std::mt19937 engine_;
};

// scikit-learn's _approximate_mode: how many of each class the likeliest draw of `draws` rows holds; ties by lot. The
// arithmetic is in its order, in double, since a remainder's last bit decides what is a tie.
Indices approximate_mode(const Indices& counts, std::int64_t draws, RandomState& random) {
  const auto total = static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
  Indices drawn;
  std::map<double, Indices, std::greater<>> by_remainder;
  for (const std::int64_t count : counts) {
    const double exact = static_cast<double>(count) / total * static_cast<double>(draws);
    by_remainder[exact - std::floor(exact)].push_back(static_cast<std::int64_t>(drawn.size()));
    drawn.push_back(static_cast<std::int64_t>(std::floor(exact)));
  }
  auto missing = static_cast<std::size_t>(draws - std::accumulate(drawn.begin(), drawn.end(), std::int64_t{0}));
  for (const auto& [remainder, classes] : by_remainder) {
    if (missing == 0) break;
    const std::size_t now = std::min(classes.size(), missing);
    for (const std::int64_t chosen : random.choice(classes, now)) ++drawn[static_cast<std::size_t>(chosen)];
    missing -= now;
  }
  return drawn;
}

Status check_sizes(const std::map<std::int64_t, Indices>& by_class, std::int64_t train, std::int64_t test) {
  for (const auto& [label, rows] : by_class)
    if (rows.size() < 2)
      return Error{Code::Invalid, "class " + std::to_string(label) +
                                      " has 1 row; a stratified split needs 2 of each: add rows or drop the class"};
  const auto classes = static_cast<std::int64_t>(by_class.size());
  if (train < classes || test < classes)
    return Error{Code::Invalid, "a split into " + std::to_string(train) + " and " + std::to_string(test) +
                                    " rows leaves a part without each of the " + std::to_string(classes) +
                                    " classes; change test_size"};
  return Unit{};
}

}  // namespace

Result<Split> stratified_split(const std::vector<std::int64_t>& labels, double test_size, std::uint32_t seed) {
  if (!(test_size > 0.0 && test_size < 1.0))
    return Error{Code::Invalid, "test_size is " + std::to_string(test_size) + ", wanted between 0 and 1"};
  if (labels.empty()) return Error{Code::Invalid, "there are no rows to split"};
  const auto rows = static_cast<std::int64_t>(labels.size());
  const auto test_rows = static_cast<std::int64_t>(std::ceil(test_size * static_cast<double>(rows)));
  const std::int64_t train_rows = rows - test_rows;

  std::map<std::int64_t, Indices> by_class;
  for (std::int64_t row = 0; row < rows; ++row) by_class[labels[static_cast<std::size_t>(row)]].push_back(row);
  RT_CHECK(check_sizes(by_class, train_rows, test_rows));

  Indices counts;
  for (const auto& [label, members] : by_class) counts.push_back(static_cast<std::int64_t>(members.size()));
  RandomState random(seed);
  const Indices train_counts = approximate_mode(counts, train_rows, random);
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] -= train_counts[i];
  const Indices test_counts = approximate_mode(counts, test_rows, random);

  Split split;
  std::size_t i = 0;
  for (auto& [label, members] : by_class) {
    const Indices shuffled = random.permutation(std::move(members));
    const auto middle = shuffled.begin() + train_counts[i];
    split.train.insert(split.train.end(), shuffled.begin(), middle);
    split.test.insert(split.test.end(), middle, middle + test_counts[i]);
    ++i;
  }
  split.train = random.permutation(std::move(split.train));
  split.test = random.permutation(std::move(split.test));
  return split;
}

Result<TrainAndTest> stratified_split(const Dataset& data, double test_size, std::uint32_t seed) {
  RT_TRY(split, stratified_split(data.labels, test_size, seed));
  return TrainAndTest{select(data, split.train), select(data, split.test)};
}

}  // namespace rt::train
