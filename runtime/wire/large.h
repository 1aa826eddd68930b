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

// The objects that go with a message. Most have none, and that costs a word.
class Attachments {
 public:
  Attachments() = default;
  Attachments(const Attachments& other) : objects_(other.empty() ? nullptr : new std::vector<Large>(*other.objects_)) {}
  Attachments(Attachments&&) noexcept = default;
  Attachments& operator=(Attachments other) noexcept {
    objects_ = std::move(other.objects_);
    return *this;
  }
  bool empty() const { return !objects_ || objects_->empty(); }
  std::size_t size() const { return objects_ ? objects_->size() : 0; }
  const Large& operator[](std::size_t i) const { return (*objects_)[i]; }
  void push_back(Large object) {
    if (!objects_) objects_ = std::make_unique<std::vector<Large>>();
    objects_->push_back(std::move(object));
  }
  void clear() { objects_.reset(); }

 private:
  std::unique_ptr<std::vector<Large>> objects_;
};

// Where large values are made and found; a process's store. Threads: any.
class LargeStore {
 public:
  virtual Result<Large> put(const void* bytes, std::size_t size) = 0;
  virtual Result<Large> find(ObjectId id) = 0;  // Code::Lost where it is gone

 protected:
  ~LargeStore() = default;
};

}  // namespace rt
