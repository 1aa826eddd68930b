#pragma once
// Large values: bytes beside a message instead of in it. What an Encoder finds too large to copy through a ring is made
// an object of the node's store; the message carries a reference.

#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "rt/runtime/base/result.h"

namespace rt {

// Over this many bytes a string, or a sequence of plain elements, travels as an object. Below, the ring is as fast.
inline constexpr std::size_t kLargeValue = 64 << 10;

// An object of the cluster, for ever: none is called the same again.
struct ObjectId {
  std::uint64_t generation = 0;
  std::uint32_t node = 0, entry = 0;
  bool operator==(const ObjectId&) const = default;
};

// Bytes that never change, there as long as somebody has this. Aligned to a page. Threads: any.
class LargeBytes {
 public:
  virtual ~LargeBytes() = default;
  std::string_view bytes() const { return bytes_; }
  ObjectId id() const { return id_; }

 protected:
  std::string_view bytes_;
  ObjectId id_;
};
using Large = std::shared_ptr<const LargeBytes>;
using Attachments = std::vector<Large>;  // of a message

// Where large values are made and found; a process's store. Threads: any.
class LargeStore {
 public:
  virtual Result<Large> put(const void* bytes, std::size_t size) = 0;
  virtual Result<Large> find(ObjectId id) = 0;  // Code::Lost where it is gone

 protected:
  ~LargeStore() = default;
};

}  // namespace rt
