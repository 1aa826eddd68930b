#pragma once
// Paths that a person gave: looked at without exceptions, and printed so that a shell takes them back.

#include <filesystem>
#include <string>

#include "rt/runtime/base/result.h"

namespace rt {

// Code::System: `path` is relative and the working folder is gone.
Result<std::filesystem::path> absolute_path(const std::filesystem::path& path);

// Whether `directory` is a sweep's: it has a folder tune. Code::System: it can't be looked at.
Result<bool> has_sweep(const std::filesystem::path& directory);
Status require_sweep(const std::filesystem::path& directory);  // Code::NotFound where it isn't

// As a word of a shell's command line: in quotes where it needs them.
std::string quoted(const std::filesystem::path& path);

}  // namespace rt
