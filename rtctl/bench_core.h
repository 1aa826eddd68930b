#pragma once
// rtctl bench core: what calls and actors cost on one node. One JSON line a figure, with the machine's raw bound
// measured in the same run where there is one.

#include <string>

namespace rt {

struct BenchCoreOptions {
  std::string only;    // one figure, by its name
  bool quick = false;  // a tenth of the rounds
};

int bench_core(const BenchCoreOptions& options);  // the exit code

}  // namespace rt
