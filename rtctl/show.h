#pragma once
// rtctl tune show: reads a sweep's journal, also while its tuner writes it.

#include <string>

namespace rt {

struct ShowOptions {
  std::string directory;
  bool json = false, csv = false;
};

int show_sweep(const ShowOptions& options);  // the exit code

}  // namespace rt
