#include "rt/actors/program/report_file.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace rt {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 16;

}  // namespace

Result<ReportFile> ReportFile::create(std::filesystem::path path) {
  RT_TRY(file, open_file(path, O_RDWR | O_CREAT | O_TRUNC));
  Fd notice(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (notice && ::inotify_add_watch(notice.get(), path.c_str(), IN_MODIFY) < 0) notice.reset();
  return ReportFile(std::move(path), std::move(file), std::move(notice));
}

Result<std::string> ReportFile::read() {
  alignas(inotify_event) char events[4096];
  while (notice_ && ::read(notice_.get(), events, sizeof events) > 0) {
  }
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0) return system_error("cannot look at " + path_.string(), errno);
  if (static_cast<std::uint64_t>(status.st_size) < offset_) offset_ = 0;
  RT_TRY(bytes, read_at(file_.get(), kChunk, offset_, path_));
  offset_ += bytes.size();
  return bytes;
}

}  // namespace rt
