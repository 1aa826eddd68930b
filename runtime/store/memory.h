#pragma once
// Memory: the node's store as a process sees it: the mapping, and typed access to its parts.
//
// The agent makes it; every process opens it by the path that the agent's hello names, which is a descriptor of the
// agent's under /proc: no file is left behind whatever is killed, and the size of /dev/shm doesn't matter. Owner: a
// Store or a Sweeper. Threads: any; what it gives out are atomic words.

#include <string>

#include "rt/runtime/net/shared_memory.h"
#include "rt/runtime/store/layout.h"

namespace rt::store {

class Memory {
 public:
  // `capacity`: bytes of objects at most. None of it is taken from the system yet.
  static Result<Memory> make(std::uint64_t capacity);
  // Code::Refused where that is no store of this version.
  static Result<Memory> open(const std::string& path);

  std::string path() const;  // for `open`, in other processes while this one lives
  std::uint64_t capacity() const { return std::uint64_t{layout_.blocks} * kBlock; }
  const Layout& layout() const { return layout_; }
  int fd() const { return fd_.get(); }

  Header& header() const { return *reinterpret_cast<Header*>(mapping_.data()); }
  Process& process(std::uint32_t slot) const { return at<Process>(layout_.processes_at)[slot]; }
  Entry& entry(std::uint32_t index) const { return at<Entry>(layout_.entries_at)[index]; }
  // 0, or 1 + the entry whose block it is.
  std::atomic<std::uint32_t>& block(std::uint32_t index) const {
    return at<std::atomic<std::uint32_t>>(layout_.blocks_at)[index];
  }
  // Has the system given its pages?
  std::atomic<std::uint8_t>& segment(std::uint32_t index) const {
    return at<std::atomic<std::uint8_t>>(layout_.segments_at)[index];
  }
  char* bytes(std::uint32_t block) const { return mapping_.data() + layout_.bytes_at + block * kBlock; }

 private:
  Memory(Fd fd, Mapping mapping, Layout layout) : fd_(std::move(fd)), mapping_(std::move(mapping)), layout_(layout) {}
  template <class T>
  T* at(std::size_t offset) const {
    return reinterpret_cast<T*>(mapping_.data() + offset);
  }

  Fd fd_;
  Mapping mapping_;
  Layout layout_;
};

}  // namespace rt::store
