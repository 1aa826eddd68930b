// Must not compile: a function that is only known by a pointer. Run by ctest (actors/CMakeLists).
#include <rt/rt.h>

int area(int side);

void run(rt::Cluster& cluster, int (*function)(int)) { cluster.run(function, 3); }
