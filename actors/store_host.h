#pragma once
// The actor that hosts a torchrun-style gang's store (c10d's TCPStore). It lives in rt-torch, which links LibTorch; the
// tuner, which doesn't, knows it by these names. `port` answers with the decimal port that the store listens on.

#include <string_view>

#include "rt/runtime/wire/call.h"

namespace rt::detail {

inline constexpr std::string_view kStoreClass = "rt.store";
inline constexpr wire::MethodName kStorePort = "rt.store.port";

}  // namespace rt::detail
