#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "rt/tune/searcher.h"

namespace rt::tune {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

std::int64_t times(std::int64_t a, std::int64_t b) { return a > kMost / b ? kMost : a * b; }

// 1 and 1.0 are one point of a grid, as they are to W&B.
std::vector<Value> without_repeats(const std::vector<Value>& values) {
  std::vector<Value> different;
  std::set<std::string> seen;
  for (const Value& value : values) {
    const bool is_whole = value.is_number_float() && std::trunc(value.get<double>()) == value.get<double>() &&
                          std::abs(value.get<double>()) < 0x1p63;
    const std::string key = is_whole ? std::to_string(static_cast<std::int64_t>(value.get<double>())) : value.dump();
    if (seen.insert(key).second) different.push_back(value);
  }
  return different;
}

// W&B's grid over q_uniform: min, min + q, ... below max. At least min, also where the quotient is too small for a
// double.
double q_uniform_points(const Uniform& range, double q) {
  return std::max(std::ceil((range.max - range.min) / q), 1.0);
}

// The points along one leaf, counted once and made when they are asked for.
class Axis {
 public:
  explicit Axis(Leaf leaf) : path(std::move(leaf.path)), distribution_(*leaf.distribution) {
    if (auto* categorical = std::get_if<Categorical>(&distribution_.shape))
      categorical->values = without_repeats(categorical->values);
    size = grid_points(distribution_).value_or(1);
  }

  Value at(std::int64_t index) const {
    if (const auto* constant = std::get_if<Constant>(&distribution_.shape)) return constant->value;
    if (const auto* categorical = std::get_if<Categorical>(&distribution_.shape))
      return categorical->values[static_cast<std::size_t>(index)];
    if (const auto* range = std::get_if<IntUniform>(&distribution_.shape)) return range->min + index;
    const double value =
        std::get<Uniform>(distribution_.shape).min + static_cast<double>(index) * distribution_.quantum->q;
    const bool is_whole = distribution_.quantum->is_whole && std::trunc(value) == value && std::abs(value) < 0x1p63;
    return is_whole ? Value(static_cast<std::int64_t>(value)) : Value(value);
  }

  std::vector<std::string> path;
  std::int64_t size = 1;

 private:
  Distribution distribution_;
};

class Grid final : public Searcher {
 public:
  Grid(const Space& space, std::optional<std::int64_t> run_cap) : space_(space) {
    for (Leaf& leaf : leaves(space)) axes_.emplace_back(std::move(leaf));
    std::sort(axes_.begin(), axes_.end(), [](const Axis& a, const Axis& b) { return a.path < b.path; });
    for (const Axis& axis : axes_) size_ = times(size_, axis.size);
    size_ = std::min(size_, run_cap.value_or(kMost));
  }

  std::optional<Value> suggest(std::int64_t trial) const override {
    if (trial < 0 || trial >= size_) return std::nullopt;
    Value point = sample(space_, [] { return 0.0; });  // the members in the file's order; their values come now
    for (auto axis = axes_.rbegin(); axis != axes_.rend(); ++axis) {
      Value* member = &point;
      for (const std::string& name : axis->path) member = &(*member)[name];
      *member = axis->at(trial % axis->size);
      trial /= axis->size;
    }
    return point;
  }

  std::optional<std::int64_t> size() const override { return size_; }

 private:
  Space space_;
  std::vector<Axis> axes_;  // sorted by path: the last runs fastest
  std::int64_t size_ = 1;
};

}  // namespace

std::optional<std::int64_t> grid_points(const Distribution& distribution) {
  if (std::holds_alternative<Constant>(distribution.shape)) return 1;
  if (const auto* categorical = std::get_if<Categorical>(&distribution.shape)) {
    if (!categorical->probabilities.empty()) return std::nullopt;
    return static_cast<std::int64_t>(categorical->values.size());
  }
  if (const auto* range = std::get_if<IntUniform>(&distribution.shape)) {
    const std::uint64_t span = static_cast<std::uint64_t>(range->max) - static_cast<std::uint64_t>(range->min);
    return span >= static_cast<std::uint64_t>(kMost) ? kMost : static_cast<std::int64_t>(span) + 1;
  }
  const auto* range = std::get_if<Uniform>(&distribution.shape);
  if (!range || !distribution.quantum) return std::nullopt;
  const double points = q_uniform_points(*range, distribution.quantum->q);
  return points >= 0x1p63 ? kMost : static_cast<std::int64_t>(points);
}

std::unique_ptr<Searcher> make_grid(const Space& space, std::optional<std::int64_t> run_cap) {
  return std::make_unique<Grid>(space, run_cap);
}

}  // namespace rt::tune
