#include "rt/actors/program_copy.h"

#include <filesystem>

#include "rt/runtime/base/checksum.h"

namespace rt {

namespace fs = std::filesystem;

Result<JobProgram> copy_program(const std::string& path, const std::string& run_folder) {
  std::error_code error;
  const fs::path program = fs::canonical(path, error);
  if (error) return Error{Code::NotFound, "there is no program " + path + ": " + error.message()};
  RT_TRY(hash, file_sha256(program));
  const fs::path folder = fs::path(run_folder) / "programs" / hash.substr(0, 16);
  const fs::path copy = folder / program.filename();
  fs::create_directories(folder, error);
  if (!error && !fs::exists(copy)) fs::copy_file(program, copy, error);
  if (error)
    return Error{Code::System, "cannot copy the program " + path + " to " + copy.string() + ": " + error.message()};
  return JobProgram{copy.string(), hash};
}

}  // namespace rt
