#pragma once
// The last lines of a log, for a person who asks why a program failed.

#include <cstddef>
#include <filesystem>
#include <string>

namespace rt {

// At most `lines` lines and `bytes` bytes, from a line's beginning where that fits, with a newline behind each. Says so
// where the log is empty or can't be read.
std::string last_lines(const std::filesystem::path& log, std::size_t lines = 20, std::size_t bytes = 4096);

}  // namespace rt
