#include "rt/actors/program_copy.h"

#include <filesystem>

#include "rt/runtime/base/checksum.h"
#include "rt/runtime/base/files.h"

namespace rt {

namespace fs = std::filesystem;

Result<JobProgram> copy_program(const std::string& path, const std::string& run_folder) {
  std::error_code error;
  const fs::path program = fs::canonical(path, error);
  if (error) return Error{Code::NotFound, "there is no program " + path + ": " + error.message()};
  const fs::path programs = fs::path(run_folder) / "programs";
  RT_CHECK(make_folders(programs));
  // Copied first, then hashed: a build may replace the program in between.
  const fs::path fresh = programs / (program.filename().string() + ".tmp");
  fs::copy_file(program, fresh, fs::copy_options::overwrite_existing, error);
  if (error)
    return system_error(
        "RT_RUN_DIR must name a place with room: cannot copy the program " + program.string() + " to " + fresh.string(),
        error.value());
  RT_TRY(hash, file_sha256(fresh));
  const fs::path folder = programs / hash.substr(0, 16);
  RT_CHECK(make_folders(folder));
  RT_CHECK(publish(fresh, folder / program.filename()));
  return JobProgram{(folder / program.filename()).string(), hash};
}

}  // namespace rt
