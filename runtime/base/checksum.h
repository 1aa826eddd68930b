#pragma once
// Checksums: CRC-32C for what may be torn or damaged (journal, objects, messages), SHA-256 for what is named by its
// content (programs, checkpoints).
//
// Owner: no state. Thread: any. CRC-32C is Castagnoli's polynomial as in RFC 3720 (iSCSI): reflected 0x82F63B78, start
// and end inverted. It uses the processor's instruction where there is one (SSE4.2), else tables; both give one value.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "rt/runtime/base/result.h"

namespace rt {

// `before` is the value of the bytes that come first, so that a value can be carried from piece to piece.
std::uint32_t crc32c(std::string_view bytes, std::uint32_t before = 0);

// The same by tables only; what crc32c falls back to.
std::uint32_t crc32c_by_tables(std::string_view bytes, std::uint32_t before = 0);

// The value of A followed by B, from the value of each and B's length in bytes.
std::uint32_t crc32c_combine(std::uint32_t a, std::uint32_t b, std::uint64_t length_of_b);

// crc32c of large data, 1 MiB pieces on all cores (oneTBB's arena of the calling thread).
std::uint32_t checksum(std::string_view bytes);
Result<std::uint32_t> file_checksum(const std::filesystem::path& path);

// SHA-256 as 64 hexadecimal digits.
std::string sha256(std::string_view bytes);
Result<std::string> file_sha256(const std::filesystem::path& path);

}  // namespace rt
