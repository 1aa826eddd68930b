#include "rt/rtctl/figure.h"

#include <algorithm>

#include "rt/rtctl/print.h"

namespace rt {

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void print_figure(std::string_view name, double value, std::string_view unit, std::optional<double> limit) {
  print("{{\"name\": \"{}\", \"value\": {:.4g}, \"unit\": \"{}\"", name, value, unit);
  if (limit) print(", \"limit\": {:.4g}, \"ratio\": {:.4g}", *limit, value / *limit);
  print("}}\n");
  flush_output();
}

}  // namespace rt
