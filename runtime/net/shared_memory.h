#pragma once
// SharedMemory: anonymous memory that two processes map, passed from one to the other as a descriptor.
//
// It is sealed: neither side can change its size, so neither can make the other's reads fault (SIGBUS). A descriptor
// that came from elsewhere is refused unless it is sealed in the same way and of the size that was agreed.
//
// Owner: whoever made or mapped it; the pages go when all mappings and descriptors are gone, however a process ended.

#include <cstddef>

#include "rt/runtime/base/files.h"

namespace rt {

class Mapping {
 public:
  Mapping() = default;
  Mapping(char* data, std::size_t size) : data_(data), size_(size) {}
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();
  char* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  char* data_ = nullptr;
  std::size_t size_ = 0;
};

// Zeroed, `size` bytes; `name` is for people, in /proc/PID/maps.
Result<Fd> make_shared_memory(const char* name, std::size_t size);

// Code::Refused where `fd` isn't sealed memory of exactly `size` bytes.
Status check_shared_memory(int fd, std::size_t size);

Result<Mapping> map_shared(int fd, std::size_t offset, std::size_t size);

// The same bytes twice, one behind the other, so that what runs over the end goes on at the start.
Result<Mapping> map_shared_twice(int fd, std::size_t offset, std::size_t size);

}  // namespace rt
