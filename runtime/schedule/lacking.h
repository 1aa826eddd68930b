#pragma once
// Resources in words: what a request asks of a node, and what the node that comes closest to it lacks. Pure.

#include <string>
#include <vector>

#include "rt/runtime/schedule/ledger.h"

namespace rt {

// "2 CPUs, 0 GPUs, 64.0 GiB memory, 1 licence": one bundle.
std::string in_words(const GangRequest& request);

// "the closest node, host7 (8 CPUs, 0 GPUs, 16.0 GiB memory), lacks 48.0 GiB memory" of what one bundle asks. The
// closest lacks the fewest kinds of things, then the smallest part of them. `nodes` isn't empty.
std::string what_the_closest_lacks(const std::vector<const NodeResources*>& nodes, const GangRequest& request);

}  // namespace rt
