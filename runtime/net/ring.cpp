#include "rt/runtime/net/ring.h"

#include <cstring>
#include <string>

namespace rt {
namespace {

constexpr std::size_t record_bytes(std::size_t size) { return sizeof(FrameHeader) + size + frame_padding(size); }

}  // namespace

Result<Ring> Ring::map(int fd, int direction) {
  RT_TRY(shared, map_shared(fd, RingLayout::head_offset(direction), 4096));
  RT_TRY(data, map_shared_twice(fd, RingLayout::data_offset(direction), kCapacity));
  return Ring(std::move(shared), std::move(data));
}

bool RingWriter::has_room(std::size_t bytes) {
  if (written_ + bytes - read_ <= kCapacity) return true;
  read_ = shared().read.load(std::memory_order_acquire);
  return written_ + bytes - read_ <= kCapacity && written_ >= read_;
}

bool RingWriter::write(std::uint32_t type, std::uint64_t route, std::string_view head, std::string_view tail) {
  const std::size_t size = head.size() + tail.size(), bytes = record_bytes(size);
  if (!has_room(bytes)) return false;
  char* to = at(written_);
  const FrameHeader header{static_cast<std::uint32_t>(size), type, route};
  std::memcpy(to, &header, sizeof header);
  to += sizeof header;
  if (!head.empty()) std::memcpy(to, head.data(), head.size());
  if (!tail.empty()) std::memcpy(to + head.size(), tail.data(), tail.size());
  written_ += bytes;
  shared().written.store(written_, std::memory_order_release);
  return true;
}

bool RingWriter::wait_for_room(std::size_t bytes) {
  if (has_room(record_bytes(bytes))) return false;
  shared().writer_waits.store(1, std::memory_order_seq_cst);
  return !has_room(record_bytes(bytes));
}

Result<bool> RingReader::next(Record& record) {
  if (written_ == read_) {
    written_ = shared().written.load(std::memory_order_acquire);
    if (written_ == read_) return false;
    if (written_ - read_ > kCapacity)
      return Error{Code::Corrupt, "the peer has broken its ring: " + std::to_string(written_ - read_) +
                                      " bytes are said to lie in one of " + std::to_string(kCapacity)};
  }
  const std::uint64_t left = written_ - read_;
  if (left >= sizeof(FrameHeader)) std::memcpy(&record.header, at(read_), sizeof(FrameHeader));
  if (left < sizeof(FrameHeader) || record.header.size > kCapacity || record_bytes(record.header.size) > left)
    return Error{Code::Corrupt, "the peer has broken its ring: a record of " + std::to_string(record.header.size) +
                                    " bytes in the " + std::to_string(left) + " that it wrote"};
  record.bytes = at(read_) + sizeof(FrameHeader);
  read_ += record_bytes(record.header.size);
  return true;
}

bool RingReader::release() {
  if (released_ == read_) return false;
  released_ = read_;
  shared().read.store(read_, std::memory_order_seq_cst);
  return shared().writer_waits.load(std::memory_order_relaxed) != 0 &&
         shared().writer_waits.exchange(0, std::memory_order_seq_cst) != 0;
}

}  // namespace rt
