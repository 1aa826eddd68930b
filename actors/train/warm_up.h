#pragma once
// What LibTorch does at its first operation, done once in a fork server, so that no rank pays for it: 17 ms become 3.
// data_parallel.h includes this, so any program that trains registers it; the inline variable makes that once.

#include "rt/actors/warm_up.h"

namespace rt::train {

// One small product on one thread: no pool of threads is started, which a fork would lose.
void warm_up_torch();

inline const bool is_warm_up_registered = rt::detail::register_warm_up(&warm_up_torch);

}  // namespace rt::train
