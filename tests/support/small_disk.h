#pragma once
// SmallDisk: a file system in memory with little room, mounted at a folder as long as it lives. Needs root: a test
// whose disk isn't `mounted` skips itself.
//
// Owner: the test.

#include <fcntl.h>
#include <sys/mount.h>

#include <filesystem>
#include <string>

#include "rt/runtime/base/files.h"

namespace rt::testing {

class SmallDisk {
 public:
  // `options` are tmpfs's: "size=1m,nr_inodes=20".
  SmallDisk(const std::filesystem::path& path, const char* options) : path_(path) {
    std::filesystem::create_directories(path);
    mounted_ = ::mount("none", path.c_str(), "tmpfs", 0, options) == 0;
  }
  ~SmallDisk() {
    if (mounted_) ::umount2(path_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  bool mounted() const { return mounted_; }
  void fill() const {
    const auto file = open_file(path_ / "filler", O_WRONLY | O_CREAT).get();
    const std::string page(4096, 'x');
    while (write_all(file.get(), page, "filler")) {
    }
  }
  void make_room() const { std::filesystem::remove(path_ / "filler"); }
  void make_room(const char* options) const { ::mount("none", path_.c_str(), "tmpfs", MS_REMOUNT, options); }

 private:
  const std::filesystem::path path_;
  bool mounted_ = false;
};

}  // namespace rt::testing
