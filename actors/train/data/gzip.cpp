#include "rt/actors/train/data/gzip.h"

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace rt::train {
namespace {

// gzread counts in int; this much at a time keeps memory at what is really there.
constexpr std::size_t kChunk = std::size_t{1} << 20;

}  // namespace

Result<GzipFile> GzipFile::open(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return Error{Code::NotFound, "no such file: " + path.string()};
  if (std::filesystem::is_directory(path, ignored))
    return Error{Code::NotFound, path.string() + " is a folder, wanted a file"};
  errno = 0;
  gzFile_s* file = gzopen(path.c_str(), "rb");
  if (!file) return system_error("cannot open " + path.string(), errno ? errno : ENOMEM);
  return GzipFile(path, file);
}

Result<std::string> GzipFile::read(std::size_t most) {
  std::string bytes;
  while (bytes.size() < most) {
    const std::size_t before = bytes.size();
    const std::size_t wanted = std::min(kChunk, most - before);
    bytes.resize(before + wanted);
    const int got = gzread(file_.get(), bytes.data() + before, static_cast<unsigned>(wanted));
    bytes.resize(before + static_cast<std::size_t>(std::max(got, 0)));

    // A file that is cut off shows only as Z_BUF_ERROR once its end is reached.
    int problem = Z_OK;
    const char* text = gzerror(file_.get(), &problem);
    if (problem == Z_ERRNO) return system_error("cannot read " + path_.string(), errno);
    if (problem == Z_BUF_ERROR) return Error{Code::Corrupt, path_.string() + " is cut off: its gzip stream has no end"};
    if (got < 0) return Error{Code::Corrupt, path_.string() + " is damaged: " + text};
    if (static_cast<std::size_t>(got) < wanted) break;
  }
  return bytes;
}

}  // namespace rt::train
