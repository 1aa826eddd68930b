#pragma once
// Columns: a table for a terminal. Pure text.

#include <cstddef>
#include <string>
#include <vector>

namespace rt {

// One line a row, the first one its heads; no line is wider than `width` where the columns can be narrowed so far. The
// widest columns give way first, and what they lose ends in an ellipsis.
std::vector<std::string> in_columns(const std::vector<std::vector<std::string>>& rows, std::size_t width);

}  // namespace rt
