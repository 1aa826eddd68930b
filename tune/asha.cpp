#include "rt/tune/asha.h"

#include <algorithm>
#include <cmath>

namespace rt::tune {
namespace {

// numpy.nanpercentile(scores, (1 - 1/eta) * 100), method linear. Nothing where all scores are nan.
std::optional<double> cutoff(const std::map<std::int64_t, double>& scores, double eta) {
  std::vector<double> sorted;
  for (const auto& [trial, score] : scores)
    if (!std::isnan(score)) sorted.push_back(score);
  if (sorted.empty()) return std::nullopt;
  std::sort(sorted.begin(), sorted.end());
  // Ray gives numpy percents and numpy divides them by a hundred: both roundings are kept.
  const double place = (1 - 1 / eta) * 100 / 100 * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double share = place - static_cast<double>(below);
  const double step = sorted[above] - sorted[below];
  // numpy starts from the nearer neighbour: the last bit decides between equal values.
  return share >= 0.5 ? sorted[above] - step * (1 - share) : sorted[below] + step * share;
}

}  // namespace

Asha::Asha(AshaOptions options, Goal goal) : options_(options), goal_(goal) {
  const auto end = static_cast<double>(options.max_iter);
  double milestone = static_cast<double>(options.min_iter);
  for (int k = 1; milestone < end; ++k) {
    rungs_.push_back({milestone, {}});
    milestone = static_cast<double>(options.min_iter) * std::pow(options.eta, k);
  }
}

Decision Asha::on_report(std::int64_t trial, std::int64_t step, double value) {
  if (step >= options_.max_iter) return Decision::Stop;
  const double score = goal_ == Goal::Maximize ? value : -value;
  const auto rung = std::find_if(rungs_.rbegin(), rungs_.rend(), [&](const Rung& r) {
    return static_cast<double>(step) >= r.milestone && !r.scores.contains(trial);
  });
  if (rung == rungs_.rend()) return Decision::Continue;
  const auto least = cutoff(rung->scores, options_.eta);
  rung->scores[trial] = score;
  return least && score < *least ? Decision::Stop : Decision::Continue;
}

std::optional<std::int64_t> Asha::next_rung(std::int64_t step) const {
  for (const Rung& rung : rungs_)
    if (const auto milestone = static_cast<std::int64_t>(std::ceil(rung.milestone)); milestone > step) return milestone;
  if (step < options_.max_iter) return options_.max_iter;
  return std::nullopt;
}

int Asha::rungs_reached(std::int64_t step) const {
  return static_cast<int>(std::count_if(rungs_.begin(), rungs_.end(),
                                        [&](const Rung& rung) { return static_cast<double>(step) >= rung.milestone; }));
}

}  // namespace rt::tune
