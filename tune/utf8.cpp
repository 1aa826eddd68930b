#include "rt/tune/utf8.h"

namespace rt::tune {
namespace {

struct Lead {
  unsigned char first, last;              // lead bytes of this row
  std::size_t length;                     // of the character
  unsigned char second_low, second_high;  // what may follow the lead; later bytes are 80..BF
};

constexpr Lead kLeads[] = {
    {0x00, 0x7F, 1, 0x00, 0x00}, {0xC2, 0xDF, 2, 0x80, 0xBF}, {0xE0, 0xE0, 3, 0xA0, 0xBF},
    {0xE1, 0xEC, 3, 0x80, 0xBF}, {0xED, 0xED, 3, 0x80, 0x9F}, {0xEE, 0xEF, 3, 0x80, 0xBF},
    {0xF0, 0xF0, 4, 0x90, 0xBF}, {0xF1, 0xF3, 4, 0x80, 0xBF}, {0xF4, 0xF4, 4, 0x80, 0x8F},
};

bool is_control(unsigned char byte) {
  return (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7F;
}

// The length of the character that begins at `text`; 0 where none does.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  for (const Lead& lead : kLeads) {
    if (byte(0) < lead.first || byte(0) > lead.last) continue;
    if (text.size() < lead.length) return 0;
    if (lead.length > 1 && (byte(1) < lead.second_low || byte(1) > lead.second_high)) return 0;
    for (std::size_t i = 2; i < lead.length; ++i)
      if (byte(i) < 0x80 || byte(i) > 0xBF) return 0;
    return lead.length;
  }
  return 0;
}

}  // namespace

std::optional<std::size_t> find_bad_byte(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = is_control(static_cast<unsigned char>(text[at])) ? 0 : character_length(text.substr(at));
    if (length == 0) return at;
    at += length;
  }
  return std::nullopt;
}

}  // namespace rt::tune
