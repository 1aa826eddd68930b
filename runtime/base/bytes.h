#pragma once
// Bytes: a buffer that grows, with room for a small message in itself, so that most calls allocate nothing.
//
// A value that is moved, never copied by accident. The bytes are aligned to 8.

#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

namespace rt {

class Bytes {
 public:
  static constexpr std::size_t kInline = 104;

  Bytes() = default;
  explicit Bytes(std::string_view from) { append(from.data(), from.size()); }
  Bytes(Bytes&& other) noexcept { take(other); }
  Bytes& operator=(Bytes&& other) noexcept {
    if (this != &other) take(other);
    return *this;
  }

  void append(const void* from, std::size_t size) {
    if (size > room_ - size_) grow(size);
    if (size > 0) std::memcpy(data() + size_, from, size);
    size_ += size;
  }
  void clear() { size_ = 0; }
  char* data() { return heap_ ? heap_.get() : inline_; }
  const char* data() const { return heap_ ? heap_.get() : inline_; }
  std::size_t size() const { return size_; }
  std::string_view view() const { return {data(), size_}; }

 private:
  void take(Bytes& other) {
    heap_ = std::move(other.heap_);
    size_ = std::exchange(other.size_, 0);
    room_ = std::exchange(other.room_, kInline);
    if (!heap_) std::memcpy(inline_, other.inline_, size_);
  }
  void grow(std::size_t by) {
    const std::size_t room = by > room_ ? size_ + by : 2 * room_;
    std::unique_ptr<char[]> larger(new char[room]);
    std::memcpy(larger.get(), data(), size_);
    heap_ = std::move(larger);
    room_ = room;
  }

  std::unique_ptr<char[]> heap_;
  std::size_t size_ = 0, room_ = kInline;
  alignas(8) char inline_[kInline];
};

}  // namespace rt
