// Must not compile: a method that would write into its caller's object. Run by ctest (actors/CMakeLists).
#include <rt/rt.h>

class Filler {
 public:
  void fill(std::string& text) { text = "full"; }
};

void call(rt::Actor<Filler> filler, std::string& text) { filler.call<&Filler::fill>(text); }
