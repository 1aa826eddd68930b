// Must not compile: a method that would write into its caller's elements. Run by ctest (actors/CMakeLists).
#include <rt/rt.h>

class Filler {
 public:
  void fill(std::span<int> values) { values[0] = 1; }
};

void call(rt::Actor<Filler> filler, std::vector<int>& values) { filler.call<&Filler::fill>(values); }
