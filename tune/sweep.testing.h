#pragma once
// What tests of the sweep file and of what reads it have in common.

#include <stdexcept>
#include <string>

#include "rt/tune/sweep.h"

namespace rt::tune {

// The sweep of a text that must be right; its mistakes as an exception.
inline Sweep sweep_of(const std::string& text) {
  auto parsed = parse_sweep(text, "f");
  if (!parsed.sweep) throw std::runtime_error(to_string(parsed.mistakes));
  return *std::move(parsed.sweep);
}

}  // namespace rt::tune
