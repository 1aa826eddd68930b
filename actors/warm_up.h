#pragma once
// Warm-ups: what a library wants done once in a fork server before the first fork, so that no child pays for it.
// Registered before main; run on the fork server's only thread. A warm-up leaves no thread behind and opens no device.

namespace rt::detail {

using WarmUp = void (*)();

bool register_warm_up(WarmUp warm_up);
void run_warm_ups();

}  // namespace rt::detail
