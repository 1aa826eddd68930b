#pragma once
// A text table that fits a terminal: columns are narrowed, then dropped by priority, and no line is ever wider than
// asked. Pure. Widths are in terminal cells; text is UTF-8 and never cut inside a character. Control characters and
// bytes that are no UTF-8 are shown as '?', so nothing a program names can move the cursor.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rt::tune {

struct Column {
  std::string title;
  bool is_right = false;      // numbers line up at the right
  int priority = 0;           // where there is no room the highest is dropped first; 0 never is
  std::size_t min_width = 0;  // may be narrowed to this, cells cut with an ellipsis; 0: never narrowed
};

// The header line and one line a row, without line ends and without spaces at their ends.
std::vector<std::string> render(std::vector<Column> columns, std::vector<std::vector<std::string>> rows,
                                std::size_t width);

// How many cells the text takes: 0 for combining marks, 2 for wide characters of East Asia and emoji.
std::size_t display_width(std::string_view text);

// The text, or as much of its start as fits into `width` cells together with "…".
std::string shorten(std::string_view text, std::size_t width);

// The text with control characters and broken UTF-8 replaced by '?', tabs by a space.
std::string printable(std::string_view text);

}  // namespace rt::tune
