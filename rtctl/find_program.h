#pragma once
// Where the program that a sweep names is.

#include <filesystem>
#include <string>

#include "rt/runtime/base/result.h"

namespace rt {

// Looked for beside the sweep file, then among the build's or installation's programs and examples, then in PATH. A
// name with a slash that is absolute is taken as it is. Code::NotFound names every place.
Result<std::filesystem::path> find_program(const std::string& name, const std::filesystem::path& sweep_folder,
                                           bool must_be_executable);

std::filesystem::path own_folder();  // of this executable

}  // namespace rt
