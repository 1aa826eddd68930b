#pragma once
// Amounts of memory as people read them.

#include <cstdint>
#include <cstdio>
#include <string>

namespace rt {

// "2.1 GiB", "512 KiB", "17 B".
inline std::string byte_size(std::uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  auto value = static_cast<double>(bytes);
  int unit = 0;
  for (; value >= 1024 && unit < 5; ++unit) value /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, unit < 3 ? "%.0f %s" : "%.1f %s", value, kUnits[unit]);
  return text;
}

}  // namespace rt
