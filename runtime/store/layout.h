#pragma once
// The layout of a node's object store: one piece of shared memory that each of the node's processes maps once.
//
// Header, processes, entries, blocks, segments, then the objects' bytes. All of it but the bytes is words that are
// changed by atomic operations alone: no process holds a lock, so none that is stopped or killed holds up another. What
// a killed process was about is always told by the words it wrote, and finished or undone by the node's agent
// (sweeper.h).
//
// An entry is an object, or more holders of one. A holder word is one reference: of a process, or of a message that is
// on its way. The object is freed by whoever finds no holder after it dropped one; `state`'s epoch changes with every
// reference that is added, so that none is overlooked.

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace rt::store {

inline constexpr std::size_t kBlock = 8 << 10;    // bytes; an object begins at one
inline constexpr std::size_t kSegment = 2 << 20;  // bytes that are got from the system, and given back, at once
inline constexpr std::uint32_t kBlocksPerSegment = kSegment / kBlock;
inline constexpr std::uint32_t kMostProcesses = 8192;
inline constexpr std::uint32_t kMostEntries = 1 << 20;
inline constexpr std::uint32_t kHolders = 22;  // of one entry

enum class Stage : std::uint64_t {
  Free = 0,
  Making,  // its maker writes it, or takes its blocks
  Sealed,
  Freeing,  // who frees it gives its blocks back
  More,     // more holders of its parent
};

// An entry's state: what it is, which process makes or frees it, and how often it was changed.
struct State {
  Stage stage = Stage::Free;
  std::uint32_t process = 0;
  std::uint32_t epoch = 0;

  constexpr std::uint64_t word() const {
    return static_cast<std::uint64_t>(stage) | (std::uint64_t{process} << 8) | (std::uint64_t{epoch} << 32);
  }
  static constexpr State of(std::uint64_t word) {
    return {static_cast<Stage>(word & 0xff), static_cast<std::uint32_t>(word >> 8) & 0xffffff,
            static_cast<std::uint32_t>(word >> 32)};
  }
};

// A holder word: 0, or a reference.
struct Holder {
  static constexpr std::uint32_t held(std::uint32_t process) { return 1u << 30 | process; }
  // In a message from one process to another: it is the receiver's once that has read the message.
  static constexpr std::uint32_t under_way(std::uint32_t from, std::uint32_t to) { return 2u << 30 | from << 15 | to; }
  static constexpr bool is_under_way(std::uint32_t word) { return word >> 30 == 2; }
  static constexpr std::uint32_t sender(std::uint32_t word) { return word >> 15 & 0x7fff; }
  static constexpr std::uint32_t owner(std::uint32_t word) { return word & 0x7fff; }
};

struct alignas(128) Entry {
  std::atomic<std::uint64_t> state{0};
  std::atomic<std::uint64_t> generation{0};       // of the object: never used twice
  std::atomic<std::uint64_t> size{0};             // bytes
  std::atomic<std::uint32_t> first{0}, count{0};  // blocks
  std::atomic<std::uint32_t> more{0};             // the entry with further holders, + 1
  std::atomic<std::uint32_t> parent{0};           // of such an entry: whose they are, + 1
  std::atomic<std::uint32_t> holders[kHolders]{};
};
static_assert(sizeof(Entry) == 128);

struct alignas(64) Process {
  enum : std::uint32_t { None = 0, Alive = 1, Dead = 2 };  // Dead: until nothing of it is left
  std::atomic<std::uint32_t> state{None};
  std::atomic<std::uint32_t> pid{0};
};

struct Header {
  static constexpr std::uint64_t kMagic = 0x31'65'72'6f'74'73'74'72;  // "rtstore1"
  std::uint64_t magic = kMagic;
  std::uint32_t blocks = 0, entries = 0;
  std::atomic<std::uint32_t> processes{0};               // slots ever used
  std::atomic<std::uint32_t> entries_used{0};            // entries ever used
  std::atomic<std::uint32_t> entry_hint{0};              // below it none is free, as far as anyone knows
  alignas(64) std::atomic<std::uint64_t> generation{0};  // the last one given
  alignas(64) std::atomic<std::uint32_t> freed{
      0};                                 // changes when blocks were given back: who waits for room looks here
  std::atomic<std::uint32_t> waiting{0};  // processes that do
  alignas(64) std::atomic<std::uint32_t> hints[32]{};  // by size, 2^i blocks: where the search for so many begins
};

// Offsets of the parts, for a store of so many blocks.
struct Layout {
  std::uint32_t blocks = 0, entries = 0;
  std::size_t processes_at = 0, entries_at = 0, blocks_at = 0, segments_at = 0, bytes_at = 0, whole = 0;

  static Layout of(std::uint64_t capacity) {
    Layout layout;
    const auto up = [](std::size_t value, std::size_t to) { return (value + to - 1) / to * to; };
    const std::uint64_t segments = up(capacity, kSegment) / kSegment;
    layout.blocks = static_cast<std::uint32_t>(segments * kBlocksPerSegment);
    layout.entries = layout.blocks < kMostEntries ? layout.blocks : kMostEntries;
    layout.processes_at = 4096;
    layout.entries_at = up(layout.processes_at + kMostProcesses * sizeof(Process), 4096);
    layout.blocks_at = up(layout.entries_at + layout.entries * sizeof(Entry), 4096);
    layout.segments_at = up(layout.blocks_at + layout.blocks * sizeof(std::uint32_t), 4096);
    layout.bytes_at = up(layout.segments_at + segments, kSegment);
    layout.whole = layout.bytes_at + segments * kSegment;
    return layout;
  }
};

}  // namespace rt::store
