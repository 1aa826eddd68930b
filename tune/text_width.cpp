// The part of text_table.h that knows UTF-8 and how wide a character is.
#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>

#include "rt/tune/text_table.h"

namespace rt::tune {
namespace {

struct Range {
  char32_t first, last;
};

// From Unicode 15's EastAsianWidth.txt (W and F) and the combining and zero-width blocks, in whole blocks.
constexpr std::array<Range, 7> kZeroWidth{{{0x300, 0x36f},
                                           {0x483, 0x489},
                                           {0x591, 0x5bd},
                                           {0x1ab0, 0x1aff},
                                           {0x200b, 0x200f},
                                           {0x20d0, 0x20f0},
                                           {0xfe00, 0xfe0f}}};
constexpr std::array<Range, 10> kWide{{{0x1100, 0x115f},
                                       {0x2e80, 0x303e},
                                       {0x3041, 0xa4cf},
                                       {0xac00, 0xd7a3},
                                       {0xf900, 0xfaff},
                                       {0xfe30, 0xfe6f},
                                       {0xff00, 0xff60},
                                       {0xffe0, 0xffe6},
                                       {0x1f300, 0x1faff},
                                       {0x20000, 0x3fffd}}};

struct Character {
  char32_t code = 0;
  std::size_t bytes = 1;
  bool is_valid = false;
};

bool is_in(const auto& ranges, char32_t code) {
  return std::ranges::any_of(ranges, [&](Range range) { return range.first <= code && code <= range.last; });
}

// The character at the start of `text`, which isn't empty. Overlong forms, surrogates and what is cut off are invalid.
Character first_of(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {lead, 1, lead >= 0x20 && lead != 0x7f};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {};
  char32_t code = lead & (0xff >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0) != 0x80) return {};
    code = code << 6 | (next & 0x3f);
  }
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_valid = code >= kSmallest[bytes] && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
  const bool is_c1_control = code >= 0x80 && code < 0xa0;
  return is_valid && !is_c1_control ? Character{code, bytes, true} : Character{code, is_valid ? bytes : 1, false};
}

std::size_t width_of(const Character& character) {
  if (!character.is_valid) return 1;
  if (is_in(kZeroWidth, character.code)) return 0;
  return is_in(kWide, character.code) ? 2 : 1;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const Character character = first_of(text);
    out += character.is_valid ? text.substr(0, character.bytes) : text[0] == '\t' ? " " : "?";
    text.remove_prefix(character.bytes);
  }
  return out;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const Character character = first_of(text);
    width += width_of(character);
    text.remove_prefix(character.bytes);
  }
  return width;
}

std::string shorten(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return "";
  std::size_t taken = 0;
  std::size_t cells = 0;
  while (taken < text.size()) {
    const Character character = first_of(text.substr(taken));
    if (cells + width_of(character) > width - 1) break;
    cells += width_of(character);
    taken += character.bytes;
  }
  return std::string(text.substr(0, taken)) + "…";
}

}  // namespace rt::tune
