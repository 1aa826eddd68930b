#pragma once
// Is a text UTF-8 without control characters? Pure.

#include <cstddef>
#include <optional>
#include <string_view>

namespace rt::tune {

// Where the first byte lies that is no part of a well-formed UTF-8 character (Unicode 15, table 3-7) or is a control
// character other than tab, line feed and carriage return. Nothing: the text is fine.
std::optional<std::size_t> find_bad_byte(std::string_view text);

}  // namespace rt::tune
