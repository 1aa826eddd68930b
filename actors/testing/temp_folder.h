#pragma once
// TempFolder: an empty folder of one test's own, removed with all in it at the test's end. For tests only.

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>

namespace rt::testing {

class TempFolder {
 public:
  TempFolder() : path_(::testing::TempDir() + "rt-test-XXXXXX") {
    if (!::mkdtemp(path_.data())) throw std::runtime_error("cannot make a folder in " + ::testing::TempDir());
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  std::filesystem::path path() const { return path_; }
  std::filesystem::path operator/(std::string_view name) const { return path() / name; }

  std::filesystem::path write(std::string_view name, std::string_view bytes) const {
    std::ofstream(*this / name, std::ios::binary) << bytes;
    return *this / name;
  }

 private:
  std::string path_;
};

inline std::string read_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace rt::testing
