#pragma once
// Files: whole files read and written so that a crash leaves either the old or the new content, never half of it.
//
// Owner: no state of its own; an Fd closes what it owns. Thread: any; each call blocks on the disk.
// Errors: Code::NotFound where the file isn't there, Code::NoSpace where the disk is full, Code::System otherwise; the
// message names the path and carries errno's text, so it can be shown to a person as it is.

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "rt/runtime/base/result.h"

namespace rt {

// Owns one file descriptor and closes it. Move-only; -1 is "none".
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(other.release()) {}
  Fd& operator=(Fd&& other) noexcept;
  ~Fd() { reset(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }  // the caller closes it from now on
  void reset();

 private:
  int fd_ = -1;
};

// open(2) with O_CLOEXEC; `mode` holds where O_CREAT makes a file.
Result<Fd> open_file(const std::filesystem::path& path, int flags, mode_t mode = 0600);

Result<std::string> read_file(const std::filesystem::path& path);

// Up to `size` bytes from `offset`; fewer only at the end of the file. `path` is for the message.
Result<std::string> read_at(int fd, std::size_t size, std::uint64_t offset, const std::filesystem::path& path);

// All of `bytes`, from the descriptor's position on, however many write(2) it takes.
// After an error a part may have been written.
Status write_all(int fd, std::string_view bytes, const std::filesystem::path& path);

// `bytes` become the content of `path` (mode 0600): a temporary file beside it, fsync, rename, fsync of the folder.
// Visible at once or not at all, and on the disk when this returns.
Status write_file_atomic(const std::filesystem::path& path, std::string_view bytes);

// The two halves of write_file_atomic: a synced temporary file `path`.tmp-XXXXXX, and its rename to `path`.
Result<std::filesystem::path> write_temporary(const std::filesystem::path& path, std::string_view bytes);
Status publish(const std::filesystem::path& temporary, const std::filesystem::path& path);

// Makes names in the folder durable: what was created, renamed or removed in it.
Status fsync_directory(const std::filesystem::path& folder);

// fsync of every regular file and folder below `root`, and of `root` itself. Links are not followed.
Status fsync_tree(const std::filesystem::path& root);

// Removes `root` and all below it; links are removed, not followed. Nothing there is no error.
Status remove_tree(const std::filesystem::path& root);

// Makes `folder` and those above it where they are missing, mode 0700.
Status make_folders(const std::filesystem::path& folder);

}  // namespace rt
