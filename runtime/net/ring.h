#pragma once
// Ring: records of bytes from one process to another, in order, in memory that both map. One writer, one reader.
//
// A record is a frame or a piece of one: a 16-byte header as in frame_header.h (with kMore set where another piece of
// the frame follows) and its bytes, from one multiple of 64 to the next, so a small message is one cache line and moves
// between the cores as one. Its header's first word is written last: where that word is zero, there is nothing yet. The
// reader zeroes what it has read before it gives the room back. The bytes are mapped twice in a row, so no record is
// broken by the ring's end.
//
// Thread: a writer's and a reader's methods are each called by one thread at a time.
// Danger: the other side may be hostile or die at any instruction. A record that was not completed is never seen; the
// reader believes no number it finds, and copies a record before it looks into it, so that it can't change meanwhile.

#include <atomic>
#include <cstdint>
#include <string_view>

#include "rt/runtime/net/frame_header.h"
#include "rt/runtime/net/shared_memory.h"

namespace rt {

inline constexpr std::uint32_t kMore = 1u << 31;  // in a record's type: the frame goes on in the next record

// Both directions in one piece of shared memory.
struct RingLayout {
  static constexpr std::size_t kCapacity = 256 << 10;  // bytes of one direction, a multiple of the page
  static constexpr std::size_t kBytes = 2 * (4096 + kCapacity);
  static constexpr std::size_t head_offset(int direction) { return static_cast<std::size_t>(direction) * 4096; }
  static constexpr std::size_t data_offset(int direction) {
    return 2 * 4096 + static_cast<std::size_t>(direction) * kCapacity;
  }
};

class Ring {
 public:
  static Result<Ring> map(int fd, int direction);
  static constexpr std::size_t kMostInRecord = RingLayout::kCapacity / 4;

 protected:
  static constexpr std::size_t kCapacity = RingLayout::kCapacity;
  static constexpr std::size_t kAlignment = 64;
  struct Shared {
    alignas(64) std::atomic<std::uint64_t> read;          // bytes, ever
    alignas(64) std::atomic<std::uint32_t> writer_waits;  // wants its bell rung once there is room
  };
  // Of a record with so many bytes, its header and its padding.
  static constexpr std::size_t record_bytes(std::size_t size) {
    return (sizeof(FrameHeader) + size + kAlignment - 1) / kAlignment * kAlignment;
  }

  Ring(Mapping shared, Mapping data) : shared_(std::move(shared)), data_(std::move(data)) {}
  Shared& shared() const { return *reinterpret_cast<Shared*>(shared_.data()); }
  char* at(std::uint64_t position) const { return data_.data() + position % kCapacity; }
  // The word that completes the record which begins there: its size and type.
  std::atomic_ref<std::uint64_t> word(std::uint64_t position) const {
    return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(at(position)));
  }

  Mapping shared_, data_;
};

class RingWriter : public Ring {
 public:
  explicit RingWriter(Ring ring) : Ring(std::move(ring)) {}

  // Writes a whole record; false where there is no room for it. `type` isn't 0; at most kMostInRecord bytes.
  bool write(std::uint32_t type, std::uint64_t route, std::string_view head, std::string_view tail = {});

  // Asks to be rung once there is room; false where there is room for `bytes` already.
  bool wait_for_room(std::size_t bytes);
  // The reader has made room since wait_for_room. Any thread.
  bool is_there_room() const { return shared().writer_waits.load(std::memory_order_acquire) == 0; }

 private:
  bool has_room(std::size_t bytes);
  std::uint64_t written_ = 0;
  std::uint64_t read_ = 0;  // as last seen
};

class RingReader : public Ring {
 public:
  explicit RingReader(Ring ring) : Ring(std::move(ring)) {}

  bool is_empty() const { return word(read_).load(std::memory_order_acquire) == 0; }

  // The next record, where there is one. Code::Corrupt: the writer has broken the ring.
  struct Record {
    FrameHeader header{};
    const char* bytes = nullptr;  // in the ring, until the next release(): to be copied before it is looked at
  };
  Result<bool> next(Record& record);

  // Gives the writer the room of all that was read. True where it waits for that.
  bool release();
  // Should it be given now, while more is there to read?
  bool is_much_unreleased() const { return read_ - released_ > kCapacity / 4; }

 private:
  std::uint64_t read_ = 0, released_ = 0;
};

}  // namespace rt
