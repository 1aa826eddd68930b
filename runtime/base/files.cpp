#include "rt/runtime/base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace rt {
namespace fs = std::filesystem;
namespace {

Error path_error(const char* what, const fs::path& path, int number) {
  Error error = system_error(std::string("cannot ") + what + " " + path.string(), number);
  if (number == ENOENT) error.code = Code::NotFound;
  if (error.code == Code::NoSpace) error.message += " (make room there, then try again)";
  return error;
}

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

Status fsync_path(const fs::path& path, int flags) {
  RT_TRY(fd, open_file(path, O_RDONLY | flags));
  if (::fsync(fd.get()) != 0) return path_error("fsync", path, errno);
  return Unit{};
}

}  // namespace

Fd& Fd::operator=(Fd&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = other.release();
  }
  return *this;
}

void Fd::reset() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

Result<Fd> open_file(const fs::path& path, int flags, mode_t mode) {
  int fd;
  do fd = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  while (fd < 0 && errno == EINTR);
  if (fd < 0) return path_error("open", path, errno);
  return Fd(fd);
}

Result<std::string> read_file(const fs::path& path) {
  RT_TRY(fd, open_file(path, O_RDONLY));
  std::string bytes;
  constexpr std::size_t kPiece = 1 << 16;
  while (true) {  // sizes in /proc are 0: read until the end instead of trusting them
    const std::size_t old_size = bytes.size();
    bytes.resize(old_size + kPiece);
    const ssize_t n = ::read(fd.get(), bytes.data() + old_size, kPiece);
    const int number = errno;
    bytes.resize(old_size + (n > 0 ? static_cast<std::size_t>(n) : 0));
    if (n < 0 && number != EINTR) return path_error("read", path, number);
    if (n == 0) return bytes;
  }
}

Result<std::string> read_at(int fd, std::size_t size, std::uint64_t offset, const fs::path& path) {
  std::string bytes(size, '\0');
  std::size_t done = 0;
  while (done < size) {
    const ssize_t n = ::pread(fd, bytes.data() + done, size - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno != EINTR) return path_error("read", path, errno);
    if (n == 0) break;
    if (n > 0) done += static_cast<std::size_t>(n);
  }
  bytes.resize(done);
  return bytes;
}

Status write_all(int fd, std::string_view bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno != EINTR) return path_error("write", path, errno);
    if (n > 0) bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return Unit{};
}

Result<fs::path> write_temporary(const fs::path& path, std::string_view bytes) {
  std::string name = path.string() + ".tmp-XXXXXX";
  const Fd fd(::mkostemp(name.data(), O_CLOEXEC));
  if (!fd) return path_error("create a file beside", path, errno);
  Status written = write_all(fd.get(), bytes, name);
  if (written && ::fsync(fd.get()) != 0) written = path_error("fsync", name, errno);
  if (written) return fs::path(name);
  ::unlink(name.c_str());
  return written.error();
}

Status publish(const fs::path& temporary, const fs::path& path) {
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    const int number = errno;
    ::unlink(temporary.c_str());
    return path_error("rename a finished file to", path, number);
  }
  return fsync_directory(folder_of(path));
}

Status write_file_atomic(const fs::path& path, std::string_view bytes) {
  RT_TRY(temporary, write_temporary(path, bytes));
  return publish(temporary, path);
}

Status fsync_directory(const fs::path& folder) { return fsync_path(folder, O_DIRECTORY); }

Status fsync_tree(const fs::path& root) {
  std::error_code code;
  for (fs::recursive_directory_iterator it(root, code), end; !code && it != end; it.increment(code)) {
    if (it->is_symlink(code) || !(it->is_directory(code) || it->is_regular_file(code))) continue;
    RT_CHECK(fsync_path(it->path(), 0));
  }
  if (code) return path_error("list", root, code.value());
  return fsync_path(root, 0);
}

Status remove_tree(const fs::path& root) {
  std::error_code code;
  fs::remove_all(root, code);
  if (code) return path_error("remove", root, code.value());
  return Unit{};
}

Status make_folders(const fs::path& folder) {
  std::error_code code;
  if (fs::is_directory(folder, code)) return Unit{};
  if (folder.has_parent_path() && folder.parent_path() != folder) RT_CHECK(make_folders(folder.parent_path()));
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return path_error("create the folder", folder, errno);
  if (!fs::is_directory(folder, code)) return path_error("create the folder", folder, ENOTDIR);
  return Unit{};
}

}  // namespace rt
