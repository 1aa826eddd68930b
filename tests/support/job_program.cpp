// The main of a test that is its own job program: a worker never gets past the first statement.

#include <gtest/gtest.h>

#include "rt/actors/cluster.h"

int main(int argc, char** argv) {
  rt::detail::serve_if_worker();
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
