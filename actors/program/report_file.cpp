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

Result<ReportFile> ReportFile::create(const std::filesystem::path& path) {
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file) return system_error("cannot make " + path.string(), errno);
  Descriptor notice(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (notice && ::inotify_add_watch(notice.get(), path.c_str(), IN_MODIFY) < 0) notice = Descriptor();
  return ReportFile(std::move(file), std::move(notice));
}

Result<std::string> ReportFile::read() {
  alignas(inotify_event) char events[4096];
  while (notice_ && ::read(notice_.get(), events, sizeof events) > 0) {
  }
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0) return system_error("cannot look at the report file", errno);
  if (status.st_size < offset_) offset_ = 0;
  std::string bytes(kChunk, '\0');
  const ssize_t got = ::pread(file_.get(), bytes.data(), bytes.size(), offset_);
  if (got < 0) return system_error("cannot read the report file", errno);
  bytes.resize(static_cast<std::size_t>(got));
  offset_ += got;
  return bytes;
}

}  // namespace rt
