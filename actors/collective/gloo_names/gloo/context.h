#pragma once
// Names that c10d's ProcessGroupGloo.hpp mentions. The torch wheel ships Gloo's code but not its headers, so these
// stand in for them. The types are known by name only: never build, derive from or call one, use what c10d exports.

#include <chrono>

namespace gloo {

class Context {
 public:
  void setTimeout(std::chrono::milliseconds timeout);
};

namespace transport {
class UnboundBuffer;
}

}  // namespace gloo
