#pragma once
// How the head's sources build the messages that go out, and read what several of them read. Included by
// runtime/head/*.cpp only.

#include <algorithm>

#include "rt/runtime/head/head.h"
#include "rt/runtime/wire/message.h"

namespace rt {

inline constexpr const char* kDefaultNameSpace = "default";

template <class Fill>
void Head::emit(Origin to, std::uint64_t request, Fill&& fill) {
  capnp::MallocMessageBuilder builder;
  auto control = builder.initRoot<wire::Control>();
  control.setRequest(request);
  fill(control);
  out_.push_back({to, wire::to_bytes(builder)});
}

inline RestartPolicy restart_policy(wire::RestartPolicy::Reader from) {
  constexpr std::uint64_t kLongest = std::uint64_t{1} << 40;  // 35 years, so that no sum overflows
  return {.most = from.getMost(),
          .window = HeadTime(std::min(from.getWindowMs(), kLongest)),
          .delay = HeadTime(std::min(from.getDelayMs(), kLongest)),
          .max_delay = HeadTime(std::min(from.getMaxDelayMs(), kLongest))};
}

inline void fill_bundle(wire::Bundle::Builder to, const BundlePlace& place) {
  to.setNode(place.node);
  auto cores = to.initCores(static_cast<unsigned>(place.cores.size()));
  for (unsigned i = 0; i < place.cores.size(); ++i) cores.set(i, place.cores[i]);
  auto gpus = to.initGpus(static_cast<unsigned>(place.gpus.size()));
  for (unsigned i = 0; i < place.gpus.size(); ++i) gpus.set(i, place.gpus[i]);
}

}  // namespace rt
