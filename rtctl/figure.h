#pragma once
// What the benchmarks share: the clock, the median, and the JSON line of a figure.

#include <chrono>
#include <optional>
#include <string_view>
#include <vector>

namespace rt {

inline double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> values);

// {"name": ..., "value": ..., "unit": ...}, and where there is a limit, the machine's raw bound in the same run, that
// and the ratio to it. Names don't change once published.
void print_figure(std::string_view name, double value, std::string_view unit,
                  std::optional<double> limit = std::nullopt);

}  // namespace rt
