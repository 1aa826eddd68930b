#include "rt/tune/metrics_text.h"

#include <limits>

#include "rt/tune/value.h"

namespace rt::tune {

Metrics metrics_of(const std::string& text) {
  Metrics metrics;
  const Value json = Value::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return metrics;
  for (const auto& [name, value] : json.items()) {
    if (value.is_number())
      metrics[name] = value.get<double>();
    else if (value == "nan")
      metrics[name] = std::numeric_limits<double>::quiet_NaN();
    else if (value == "inf")
      metrics[name] = std::numeric_limits<double>::infinity();
    else if (value == "-inf")
      metrics[name] = -std::numeric_limits<double>::infinity();
  }
  return metrics;
}

}  // namespace rt::tune
