#include <array>
#include <bit>
#include <cstring>

#include "rt/runtime/base/checksum.h"

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace rt {
namespace {

constexpr std::uint32_t kPolynomial = 0x82F63B78;  // reflected: bit 31 is x^0

using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

// tables[k][b]: what byte b does to the value when k zero bytes follow it, so 8 bytes take 8 look-ups and no loop.
constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) ? kPolynomial : 0);
    tables[0][byte] = value;
  }
  for (std::size_t k = 1; k < 8; ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t value = tables[k - 1][byte];
      tables[k][byte] = (value >> 8) ^ tables[0][value & 255];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();
static_assert(std::endian::native == std::endian::little);

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t crc32c_by_instruction(std::string_view bytes, std::uint32_t before) {
  std::uint64_t value = ~before;
  const char* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 8; at += 8, left -= 8) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    value = _mm_crc32_u64(value, word);
  }
  auto narrow = static_cast<std::uint32_t>(value);
  for (; left > 0; ++at, --left) narrow = _mm_crc32_u8(narrow, static_cast<std::uint8_t>(*at));
  return ~narrow;
}
#endif

// a * b modulo the polynomial.
std::uint32_t multiply(std::uint32_t a, std::uint32_t b) {
  std::uint32_t product = 0;
  for (std::uint32_t bit = 1u << 31; bit != 0; bit >>= 1) {
    if (a & bit) product ^= b;
    b = (b >> 1) ^ ((b & 1) ? kPolynomial : 0);
  }
  return product;
}

}  // namespace

std::uint32_t crc32c_by_tables(std::string_view bytes, std::uint32_t before) {
  std::uint32_t value = ~before;
  const char* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 8; at += 8, left -= 8) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    word ^= value;
    value = 0;
    for (std::size_t k = 0; k < 8; ++k) value ^= kTables[7 - k][(word >> (8 * k)) & 255];
  }
  for (; left > 0; ++at, --left) value = (value >> 8) ^ kTables[0][(value ^ static_cast<std::uint8_t>(*at)) & 255];
  return ~value;
}

std::uint32_t crc32c(std::string_view bytes, std::uint32_t before) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("sse4.2")) return crc32c_by_instruction(bytes, before);
#endif
  return crc32c_by_tables(bytes, before);
}

// Appending n bytes multiplies the value of what came before by x^(8n) (as zlib's crc32_combine does).
std::uint32_t crc32c_combine(std::uint32_t a, std::uint32_t b, std::uint64_t length_of_b) {
  std::uint32_t shift = 1u << 31;   // x^0
  std::uint32_t square = 1u << 23;  // x^8, then x^16, x^32, ...
  for (; length_of_b != 0; length_of_b >>= 1) {
    if (length_of_b & 1) shift = multiply(shift, square);
    square = multiply(square, square);
  }
  return multiply(shift, a) ^ b;
}

}  // namespace rt
