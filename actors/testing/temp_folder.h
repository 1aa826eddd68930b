#pragma once
// TempFolder: a TemporaryFolder with what a test writes into it at hand. For tests only.

#include <fstream>
#include <string>
#include <string_view>

#include "rt/runtime/base/files.h"
#include "rt/runtime/base/temporary_folder.h"

namespace rt::testing {

class TempFolder : public TemporaryFolder {
 public:
  std::filesystem::path operator/(std::string_view name) const { return path() / name; }

  std::filesystem::path write(std::string_view name, std::string_view bytes) const {
    std::ofstream(*this / name, std::ios::binary) << bytes;
    return *this / name;
  }
};

// The whole file, or an Exception.
inline std::string read_file(const std::filesystem::path& file) { return rt::read_file(file).get(); }

}  // namespace rt::testing
