#include "rt/rtctl/find_program.h"

#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <vector>

namespace rt {

namespace fs = std::filesystem;

fs::path own_folder() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored).parent_path();
}

Result<fs::path> find_program(const std::string& name, const fs::path& sweep_folder, bool must_be_executable) {
  std::vector<fs::path> places{sweep_folder / name};  // an absolute name stays as it is
  if (fs::path(name).is_relative()) {
    places.push_back(own_folder() / name);
    places.push_back(own_folder().parent_path() / "lib/rt/examples" / name);
    std::stringstream path(std::getenv("PATH") ? std::getenv("PATH") : "");
    for (std::string folder; std::getline(path, folder, ':');) places.push_back(fs::path(folder) / name);
  }
  std::string looked;
  bool found_unexecutable = false;
  for (const fs::path& place : places) {
    std::error_code error;
    if (fs::is_regular_file(place, error)) {
      if (!must_be_executable || ::access(place.c_str(), X_OK) == 0) {
        const fs::path found = fs::canonical(place, error);
        if (error) return system_error("cannot find out where " + place.string() + " is", error.value());
        return found;
      }
      found_unexecutable = true;
    }
    if (looked.size() < 600) looked += (looked.empty() ? "" : ", ") + place.parent_path().string();
  }
  return Error{Code::NotFound, "the program '" + name + "' was not found" +
                                   (found_unexecutable ? " as an executable file (chmod +x it)" : "") +
                                   "; looked in: " + looked};
}

}  // namespace rt
