#include "rt/tune/space.h"

#include <algorithm>
#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <limits>

namespace rt::tune {
namespace {

// Into what doubles and JSON can hold: a log-normal draw may be beyond.
double finite(double number) {
  constexpr double kMost = std::numeric_limits<double>::max();
  return std::clamp(number, -kMost, kMost);
}

double inside(double u) { return std::clamp(u, 0x1p-54, 1 - 0x1p-53); }

// Which of the things 0..last lies at the share u, all of one width.
std::uint64_t index_at(double u, std::uint64_t last) {
  const long double place = static_cast<long double>(u) * (static_cast<long double>(last) + 1);
  return place >= static_cast<long double>(last) ? last : static_cast<std::uint64_t>(place);
}

std::size_t weighted_index(double u, const std::vector<double>& probabilities) {
  double sum = 0;
  for (std::size_t i = 0; i < probabilities.size(); ++i) {
    sum += probabilities[i];
    if (u < sum) return i;
  }
  std::size_t last = probabilities.size() - 1;  // rounding left the sum a little below u
  while (last > 0 && probabilities[last] == 0) --last;
  return last;
}

Value quantized(double x, const std::optional<Quantum>& quantum) {
  if (!quantum) return finite(x);
  const double rounded = finite(std::nearbyint(x / quantum->q) * quantum->q);
  const bool fits = std::abs(rounded) < 0x1p63;
  return quantum->is_whole && fits ? Value(static_cast<std::int64_t>(rounded)) : Value(rounded);
}

double standard_normal(double u) { return boost::math::quantile(boost::math::normal(), inside(u)); }

struct Quantile {
  double u;
  const std::optional<Quantum>& quantum;

  Value operator()(const Constant& constant) const { return constant.value; }
  Value operator()(const Categorical& categorical) const {
    const auto& [values, probabilities] = categorical;
    return values[probabilities.empty() ? index_at(u, values.size() - 1) : weighted_index(u, probabilities)];
  }
  Value operator()(const IntUniform& range) const {
    const std::uint64_t low = static_cast<std::uint64_t>(range.min);
    const std::uint64_t last = static_cast<std::uint64_t>(range.max) - low;
    return static_cast<std::int64_t>(low + index_at(u, last));
  }
  Value operator()(const Uniform& range) const { return quantized(std::lerp(range.min, range.max, u), quantum); }
  Value operator()(const LogUniform& range) const {
    const double x = std::exp(std::lerp(std::log(range.min), std::log(range.max), u));
    return quantized(std::clamp(x, range.min, range.max), quantum);
  }
  Value operator()(const Normal& normal) const {
    return quantized(normal.mu + normal.sigma * standard_normal(u), quantum);
  }
  Value operator()(const LogNormal& normal) const {
    return quantized(std::exp(normal.mu + normal.sigma * standard_normal(u)), quantum);
  }
  Value operator()(const Beta& beta) const {
    return quantized(boost::math::quantile(boost::math::beta_distribution(beta.a, beta.b), u), quantum);
  }
};

void collect(const Space& space, std::vector<std::string>& path, std::vector<Leaf>& found) {
  for (const Parameter& parameter : space) {
    path.push_back(parameter.name);
    if (const auto* nested = std::get_if<Space>(&parameter.content))
      collect(*nested, path, found);
    else
      found.push_back({path, &std::get<Distribution>(parameter.content)});
    path.pop_back();
  }
}

}  // namespace

Value quantile(const Distribution& distribution, double u) {
  return std::visit(Quantile{u, distribution.quantum}, distribution.shape);
}

Value sample(const Space& space, const UniformSource& uniform) {
  Value point = Value::object();
  for (const Parameter& parameter : space) {
    const auto* nested = std::get_if<Space>(&parameter.content);
    Value value = nested ? sample(*nested, uniform) : quantile(std::get<Distribution>(parameter.content), uniform());
    // Names differ, so a member is appended without a look at the others.
    point.get_ptr<Value::object_t*>()->emplace_back(parameter.name, std::move(value));
  }
  return point;
}

std::vector<Leaf> leaves(const Space& space) {
  std::vector<Leaf> found;
  std::vector<std::string> path;
  collect(space, path, found);
  return found;
}

}  // namespace rt::tune
