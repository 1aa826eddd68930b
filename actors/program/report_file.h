#pragma once
// ReportFile: a program's report file, read as it grows.
//
// Owner: one rank. Thread: one at a time. inotify tells when there is more; where the user has no inotify instance left
// (fs.inotify.max_user_instances), `fd` is -1 and the owner looks again every kLookAgain.
// Danger: a program that cuts the file and begins anew is followed only if the file got shorter.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

#include "rt/runtime/base/files.h"
#include "rt/runtime/base/result.h"

namespace rt {

class ReportFile {
 public:
  static constexpr std::chrono::milliseconds kLookAgain{50};

  // Makes the file, empty.
  static Result<ReportFile> create(std::filesystem::path path);

  int fd() const { return notice_.get(); }  // readable when the file has grown, until the next read

  // What was added since the last read, some of it at a time; empty: nothing now.
  Result<std::string> read();

 private:
  ReportFile(std::filesystem::path path, Fd file, Fd notice)
      : path_(std::move(path)), file_(std::move(file)), notice_(std::move(notice)) {}

  std::filesystem::path path_;
  Fd file_;
  Fd notice_;
  std::uint64_t offset_ = 0;  // of what was read
};

}  // namespace rt
