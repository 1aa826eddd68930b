// Must not compile: a type that the codec can't know is named, and what to do is said. Run by ctest
// (runtime/CMakeLists).
#include "rt/runtime/wire/codec.h"

class Opaque {
 public:
  explicit Opaque(int* to) : to_(to) {}

 private:
  int* to_;
};

void send(rt::Encoder& to, const Opaque& value) { rt::encode(to, value); }
