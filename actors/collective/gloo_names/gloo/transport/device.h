#pragma once
// See gloo/context.h.

namespace gloo::transport {
class Device;
}
