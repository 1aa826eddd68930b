#include "rt/actors/testing.h"

#include "rt/actors/cluster_parts.h"

namespace rt::testing {

InlineCluster::InlineCluster(const ConnectOptions& options) : Cluster(Cluster::Parts::start_inline(options).get()) {}

}  // namespace rt::testing
