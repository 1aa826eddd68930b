#include "rt/rtctl/columns.h"

#include <algorithm>
#include <numeric>

namespace rt {
namespace {

constexpr std::size_t kLeast = 6;  // of a column that gives way
const std::string kBetween = "  ";

// Of characters, not bytes: a byte that goes on a character has no column of its own.
bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }
std::size_t length_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::string fitted(const std::string& text, std::size_t width) {
  const std::size_t length = length_of(text);
  if (length <= width) return text + std::string(width - length, ' ');
  std::size_t characters = 0, bytes = 0;
  for (; bytes < text.size(); ++bytes)
    if (begins_character(text[bytes]) && characters++ == width - 1) break;
  return text.substr(0, bytes) + "…";
}

}  // namespace

std::vector<std::string> in_columns(const std::vector<std::vector<std::string>>& rows, std::size_t width) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], length_of(row[i]));
  }
  const auto total = [&] {
    return std::accumulate(widths.begin(), widths.end(), std::size_t{0}) + kBetween.size() * (widths.size() - 1);
  };
  while (!widths.empty() && total() > width) {
    std::size_t& widest = *std::max_element(widths.begin(), widths.end());
    if (widest <= kLeast) break;
    --widest;
  }
  std::vector<std::string> lines;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) line += (i == 0 ? "" : kBetween) + fitted(row[i], widths[i]);
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace rt
