// Must not compile: a member function as a task. Run by ctest (actors/CMakeLists).
#include <rt/rt.h>

struct Square {
  int area(int side) { return side * side; }
};

void run(rt::Cluster& cluster) { cluster.run<&Square::area>(3); }
