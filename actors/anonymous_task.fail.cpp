// Must not compile: a task's function in an anonymous namespace. Run by ctest (actors/CMakeLists).
#include <rt/rt.h>

namespace {
int area(int side) { return side * side; }
}  // namespace

void run(rt::Cluster& cluster) { cluster.run<&area>(3); }
