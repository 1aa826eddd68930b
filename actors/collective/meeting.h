#pragma once
// The ranks of a gang meet in its key-value space before they connect to each other: so a rank that never comes is
// named by number within a deadline that one chooses, which no backend's own constructor offers.
//
// Blocks its caller. Needs no LibTorch.

#include <chrono>
#include <string>
#include <string_view>

#include "rt/actors/rank_context.h"
#include "rt/runtime/base/result.h"

namespace rt::train {

// The network that this process sees: equal for two processes exactly if they reach each other over loopback.
std::string network_identity();

// Writes where this rank is (its `network` and `address`), waits for the others and compares. Code::Deadline names the
// ranks that are missing; Code::Invalid where ranks are in different networks and an address is loopback.
Status meet(const RankContext& context, std::string_view network, std::string_view address,
            std::chrono::milliseconds deadline);

}  // namespace rt::train
