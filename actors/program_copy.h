#pragma once
// The job program: what workers run. Found by the hash of its content and copied into the run folder, so that a
// rebuild changes nothing under way. Libraries are found as the program's own run path says: LibTorch isn't copied.

#include <string>

#include "rt/runtime/base/result.h"

namespace rt {

struct JobProgram {
  std::string path;  // of the copy
  std::string hash;  // SHA-256 of its content, hexadecimal
};

// Code::NotFound, or NoSpace where there is no room for the copy.
Result<JobProgram> copy_program(const std::string& path, const std::string& run_folder);

}  // namespace rt
