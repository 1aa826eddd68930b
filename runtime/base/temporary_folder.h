#pragma once
// TemporaryFolder: an empty folder of a test's own below the system's temporary folder, removed with all in it.

#include <stdlib.h>

#include <filesystem>
#include <string>

#include "rt/runtime/base/files.h"

namespace rt {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "rt-test-XXXXXX").string();
    if (!::mkdtemp(name.data())) throw Exception(system_error("cannot create " + name, errno));
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { static_cast<void>(remove_tree(path_)); }

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace rt
