#include "rt/runtime/net/ring.h"

#include <cstring>
#include <string>

namespace rt {

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
  char* const begin = at(written_);
  const FrameHeader header{static_cast<std::uint32_t>(size), type, route};
  std::memcpy(begin + sizeof(std::uint64_t), &header.route, sizeof header.route);
  char* const body = begin + sizeof header;
  if (!head.empty()) std::memcpy(body, head.data(), head.size());
  if (!tail.empty()) std::memcpy(body + head.size(), tail.data(), tail.size());
  std::uint64_t first;
  std::memcpy(&first, &header, sizeof first);
  word(written_).store(first, std::memory_order_release);
  written_ += bytes;
  return true;
}

bool RingWriter::wait_for_room(std::size_t bytes) {
  if (has_room(record_bytes(bytes))) return false;
  shared().writer_waits.store(1, std::memory_order_seq_cst);
  return !has_room(record_bytes(bytes));
}

Result<bool> RingReader::next(Record& record) {
  const std::uint64_t first = word(read_).load(std::memory_order_acquire);
  if (first == 0) return false;
  std::memcpy(&record.header, &first, sizeof first);
  std::memcpy(&record.header.route, at(read_) + sizeof first, sizeof record.header.route);
  if (record.header.size > kMostInRecord)
    return Error{Code::Corrupt, "the peer has broken its ring: a record of " + std::to_string(record.header.size) +
                                    " bytes, where none has more than " + std::to_string(kMostInRecord)};
  record.bytes = at(read_) + sizeof(FrameHeader);
  read_ += record_bytes(record.header.size);
  return true;
}

bool RingReader::release() {
  if (released_ == read_) return false;
  for (; released_ != read_; released_ += kAlignment) word(released_).store(0, std::memory_order_relaxed);
  shared().read.store(read_, std::memory_order_seq_cst);
  return shared().writer_waits.load(std::memory_order_relaxed) != 0 &&
         shared().writer_waits.exchange(0, std::memory_order_seq_cst) != 0;
}

}  // namespace rt
