#include "rt/tune/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "rt/tune/objective.h"
#include "rt/tune/text_table.h"

namespace rt::tune {
namespace {

template <class T>
std::string text_or_dash(const std::optional<T>& value) {
  if (!value) return "-";
  if constexpr (std::is_floating_point_v<T>) {
    return number_text(*value);
  } else {
    return fmt::format("{}", *value);
  }
}

bool has_ended(const Row& row) { return row.state == "completed" || row.state == "stopped" || row.state == "failed"; }

std::int64_t count_state(const Results& results, const std::string& state) {
  return std::ranges::count(results.rows, state, &Row::state);
}

std::vector<std::string> table(const Results& results, const std::vector<std::size_t>& order, std::size_t width) {
  const std::string metric = results.metric.empty() ? "metric" : results.metric;
  std::vector<Column> columns{{.title = "trial"},
                              {.title = "state", .priority = 2},
                              {.title = "parameters", .priority = 3, .min_width = 16},
                              {.title = "iteration", .is_right = true, .priority = 4},
                              {.title = metric, .is_right = true, .priority = 1},
                              {.title = "best", .is_right = true, .priority = 5},
                              {.title = "rung", .is_right = true, .priority = 6},
                              {.title = "time", .is_right = true, .priority = 7}};
  std::vector<std::vector<std::string>> rows;
  for (std::size_t index : order) {
    const Row& row = results.rows[index];
    rows.push_back({row.trial + (results.best == index ? " *" : ""), row.state, parameters_text(row.parameters),
                    text_or_dash(row.iteration), text_or_dash(row.metric), text_or_dash(row.best_metric),
                    text_or_dash(row.rung), duration_text(row.seconds)});
  }
  return render(std::move(columns), std::move(rows), width);
}

// Indices of the rows, `is_first` ones first, then by the best value; equal ones in the order of their indices.
template <class IsFirst>
std::vector<std::size_t> ordered(const Results& results, IsFirst is_first) {
  std::vector<std::size_t> order(results.rows.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    const Row& x = results.rows[a];
    const Row& y = results.rows[b];
    if (is_first(x) != is_first(y)) return is_first(x);
    if (is_first(x)) return false;
    return x.best_metric && is_better(*x.best_metric, y.best_metric, results.goal);
  });
  return order;
}

}  // namespace

std::string number_text(double value) { return std::isnan(value) ? "nan" : fmt::format("{:.4g}", value); }

std::string duration_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::max(0.0, seconds));
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string parameters_text(const Value& parameters) {
  std::string text;
  for (const auto& [name, value] : flatten(parameters)) {
    const std::string shown = value.is_string()         ? value.get<std::string>()
                              : value.is_number_float() ? number_text(value.get<double>())
                                                        : value.dump();
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, shown);
  }
  return text;
}

std::optional<double> seconds_left(std::int64_t ended, std::optional<std::int64_t> planned, const Progress& progress) {
  const std::int64_t ended_now = ended - progress.ended_before;
  if (!planned || ended_now <= 0) return std::nullopt;
  return progress.elapsed_seconds * static_cast<double>(*planned - ended) / static_cast<double>(ended_now);
}

std::string headline(const Results& results, const Progress& progress) {
  const std::int64_t ended = std::ranges::count_if(results.rows, has_ended);
  std::string text =
      results.planned ? fmt::format("{} of {} trials", ended, *results.planned) : fmt::format("{} trials", ended);
  text += fmt::format(", {} running, {} failed", count_state(results, "running"), count_state(results, "failed"));
  if (results.best) {
    const Row& best = results.rows[*results.best];
    text += fmt::format(", best {} {} (trial {})", results.metric, number_text(*best.best_metric), best.trial);
  }
  text += fmt::format(", {} elapsed", duration_text(progress.elapsed_seconds));
  const auto left = seconds_left(ended, results.planned, progress);
  if (left && results.state == "running") text += fmt::format(", about {} left", duration_text(*left));
  return text;
}

std::vector<std::string> live_frame(const Results& results, const Progress& progress, Terminal terminal) {
  std::vector<std::string> lines{shorten(printable(headline(results, progress)), terminal.width)};
  auto order = ordered(results, [](const Row& row) { return row.state == "running"; });
  constexpr std::size_t kAround = 3;  // the headline, the titles, "and 14 more"
  const std::size_t room = terminal.height > kAround ? terminal.height - kAround : 0;
  const std::size_t hidden = order.size() > room ? order.size() - room : 0;
  order.resize(order.size() - hidden);
  if (!order.empty()) {
    for (std::string& line : table(results, order, terminal.width)) lines.push_back(std::move(line));
  }
  if (hidden > 0) lines.push_back(shorten(fmt::format("and {} more", hidden), terminal.width));
  if (lines.size() > terminal.height) lines.resize(terminal.height);
  return lines;
}

std::vector<std::string> final_table(const Results& results, std::size_t width) {
  return table(results, ordered(results, [](const Row&) { return false; }), width);
}

}  // namespace rt::tune
