#pragma once
// The journal's files, byte by byte. All numbers are little-endian.
//
//   000003-000001.rtj   segment 1 of term 3: a header, then batches
//   000003-000002.rts   a snapshot: a header, then one batch of one record; stands for all before segment 2 of term 3
//
//   header   24   magic 8 | format 4 | term 4 | segment 4 | crc32c of these 20 bytes 4
//   batch    12   size of the body 4 | crc32c of the size 4 | crc32c of the body 4, then the body:
//            4    size of a record 4, its bytes, and so on
//
// The first batch of a term's segment 1 is its start: where the term before it ended (term 4 | segment 4 | offset 8;
// term 0 = there was none). The size has a checksum of its own so that a torn batch can be told from a damaged one.
// Owner: none, pure functions. Thread: any.

#include <compare>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rt/runtime/base/result.h"

namespace rt::journal {

inline constexpr std::uint32_t kFormat = 1;
inline constexpr std::size_t kHeaderSize = 24;
inline constexpr std::size_t kBatchHeaderSize = 12;
inline constexpr std::size_t kMaxBody = 256 << 20;
inline constexpr std::size_t kTermStartSize = kBatchHeaderSize + 4 + 16;  // one record of 16 bytes

enum class Kind { Segment, Snapshot };

struct FileName {
  Kind kind = Kind::Segment;
  std::uint32_t term = 0;
  std::uint32_t segment = 0;
  auto operator<=>(const FileName&) const = default;
};

std::string to_string(const FileName& name);
std::optional<FileName> parse_file_name(std::string_view text);

// A place in the journal: `offset` bytes into the segment; 0 is before its header.
struct Position {
  std::uint32_t term = 0;
  std::uint32_t segment = 0;
  std::uint64_t offset = 0;
  auto operator<=>(const Position&) const = default;
};

std::string encode_header(const FileName& name);

// `header` is the first kHeaderSize bytes of `path`. Refused: another format. Corrupt: anything else that is wrong.
Status check_header(std::string_view header, const FileName& name, const std::filesystem::path& path);

// Invalid where the body would exceed kMaxBody.
Result<std::string> encode_batch(std::span<const std::string_view> records);

std::string encode_term_start(const Position& end_of_the_term_before);
std::optional<Position> decode_term_start(std::string_view record);

enum class Tail {
  Whole,    // the bytes end with a batch
  Torn,     // what follows the last whole batch was never written to its end
  Damaged,  // a batch doesn't check although others were written after it
};

struct Scan {
  std::vector<std::string> records;
  std::size_t whole = 0;  // bytes up to the end of the last whole batch
  Tail tail = Tail::Whole;
};

// Reads the batches in `bytes`, which begin at a batch.
Scan scan_batches(std::string_view bytes);

}  // namespace rt::journal
