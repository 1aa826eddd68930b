#pragma once
// For the tests of programs that use rt, <rt/testing.h>: a cluster without processes, on the test's own thread.
//
//   TEST(Counter, Adds) {
//     rt::testing::InlineCluster cluster;
//     auto counter = cluster.spawn<Counter>({}, 10);
//     EXPECT_EQ(counter.call<&Counter::add>(5).get(), 15);
//   }
//
// It is what rt::connect gives with RT_LOCAL=inline (docs/debugging.md): actors run while somebody waits, in a
// repeatable order, and a wait that nothing can end fails with Code::Deadlock. A test's main needs nothing of rt.
// Owner: the test, as many one after the other as it likes. The destructor ends and destroys all actors; nothing of
// it is left. Thread: the one that made it.

#include "rt/actors/cluster.h"

namespace rt::testing {

class InlineCluster : public Cluster {
 public:
  explicit InlineCluster(const ConnectOptions& options = {});
};

}  // namespace rt::testing
