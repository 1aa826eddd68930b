#include <rt/rt.h>

#include "counter.h"

// Ends with 0 where an actor was spawned in a process of its own and answered.
int main(int argc, char** argv) {
  rt::Cluster cluster = rt::connect(argc, argv);
  auto counter = cluster.spawn<Counter>({.name = "counter"}, 10);
  return counter.call<&Counter::add>(5).get() == 15 ? 0 : 1;
}
