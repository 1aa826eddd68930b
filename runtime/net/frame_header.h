#pragma once
// What stands before each frame's body on a stream socket. The body is followed by zeros up to a multiple of 8.

#include <cstddef>
#include <cstdint>

namespace rt {

struct FrameHeader {
  std::uint32_t size;  // of the body, without the padding
  std::uint32_t type;  // FrameType
  std::uint64_t route;
};
static_assert(sizeof(FrameHeader) == 16);

constexpr std::size_t frame_padding(std::size_t size) { return (8 - size % 8) % 8; }

}  // namespace rt
