#pragma once
// GzipFile: reads a file that is compressed by gzip, or plain, which its first bytes tell; the reader can't see which.
//
// Owner: one reader; it closes the file. Thread: the owner's.
// Danger: few bytes on disk may be many when unpacked; the reader says how many it will take.

#include <zlib.h>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>

#include "rt/runtime/base/result.h"

namespace rt::train {

class GzipFile {
 public:
  // Code::NotFound where there is no such file, Code::System where it can't be opened.
  static Result<GzipFile> open(const std::filesystem::path& path);

  // The next bytes, unpacked: `most` of them, fewer only at the file's end. Code::Corrupt, naming the file, where it is
  // damaged or cut off.
  Result<std::string> read(std::size_t most);

  const std::filesystem::path& path() const { return path_; }

 private:
  struct Close {
    void operator()(gzFile_s* file) const { gzclose_r(file); }
  };

  GzipFile(std::filesystem::path path, gzFile_s* file) : path_(std::move(path)), file_(file) {}

  std::filesystem::path path_;
  std::unique_ptr<gzFile_s, Close> file_;
};

}  // namespace rt::train
