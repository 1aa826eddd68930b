#pragma once
// Space: what `parameters` of a sweep file describes: a tree of named distributions, and how a point of it is drawn.
//
// Pure values. Every draw is the inverse of the distribution's cumulative function at one uniform number, so a trial
// takes exactly one number per leaf, in the file's order, and the same numbers give the same point on every machine of
// one kind. The names and rules are W&B's (package sweeps 0.3.0).

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "rt/tune/value.h"

namespace rt::tune {

struct Constant {
  Value value;
};

struct Categorical {
  std::vector<Value> values;          // at least one
  std::vector<double> probabilities;  // empty: all alike; else one for each value, summing to 1
};

struct IntUniform {
  std::int64_t min;  // both ends can be drawn
  std::int64_t max;
};

struct Uniform {
  double min;
  double max;
};

// log X is uniform. `inv_log_uniform_values` is the same distribution: log 1/X uniform means log X uniform.
struct LogUniform {
  double min;  // > 0
  double max;
};

struct Normal {
  double mu;
  double sigma;  // >= 0; 0 always gives mu
};

struct LogNormal {
  double mu;  // of log X
  double sigma;
};

struct Beta {
  double a;  // > 0
  double b;  // > 0
};

// A q-variant draws X and gives round(X / q) * q, halves to even; it may so step over a bound that is no multiple of q.
struct Quantum {
  double q;       // > 0
  bool is_whole;  // q was written as an integer: the result is one too
};

struct Distribution {
  std::variant<Constant, Categorical, IntUniform, Uniform, LogUniform, Normal, LogNormal, Beta> shape;
  std::optional<Quantum> quantum;  // for Uniform and the shapes after it
};

struct Parameter;
using Space = std::vector<Parameter>;  // in the file's order; names are unique within a level

struct Parameter {
  std::string name;
  std::variant<Distribution, Space> content;  // a Space: nested `parameters`
};

// The value below which a share `u` of the draws lies. u in [0,1]; where the distribution has no end, u is first moved
// into [2^-54, 1 - 2^-53] so that the result is finite.
Value quantile(const Distribution& distribution, double u);

// Gives the next uniform number in [0,1) at each call.
using UniformSource = std::function<double()>;

// One point of the space: an object.
Value sample(const Space& space, const UniformSource& uniform);

// A distribution of the tree with the names that lead to it.
struct Leaf {
  std::vector<std::string> path;
  const Distribution* distribution;  // lives as long as the space
};

// All leaves, in the file's order.
std::vector<Leaf> leaves(const Space& space);

}  // namespace rt::tune
