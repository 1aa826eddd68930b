#include "rt/runtime/base/file_journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "rt/runtime/base/crash_point.h"
#include "rt/runtime/base/journal_layout.h"

namespace rt {
namespace fs = std::filesystem;
using namespace journal;

FileJournal::FileJournal(fs::path folder, JournalOptions options, Fd lock, std::uint32_t term)
    : folder_(std::move(folder)),
      options_(options),
      lock_(std::move(lock)),
      segment_{Kind::Segment, term, 0},
      batched_sync_(options.sync_interval, [this] { return sync_segment(); }) {}

Result<std::unique_ptr<FileJournal>> FileJournal::begin(const fs::path& folder, JournalOptions options, Fd lock,
                                                        std::uint32_t term, const Position& end) {
  std::unique_ptr<FileJournal> writer(new FileJournal(folder, options, std::move(lock), term));
  const std::string start = encode_term_start(end);
  const std::string_view records[] = {start};
  RT_TRY(batch, encode_batch(records));
  RT_CHECK(writer->create_segment(1, batch));
  writer->batched_sync_.start();
  return writer;
}

Status FileJournal::append_all(std::span<const std::string_view> records) {
  if (records.empty()) return Unit{};
  if (auto failure = batched_sync_.take_error()) return *failure;
  RT_TRY(batch, encode_batch(records));
  RT_CHECK(cut_failed_append());
  if (size_ > head_size_ && size_ + batch.size() > options_.segment_bytes) RT_CHECK(rotate());

  RT_CRASH_POINT("journal.append.before");
  if (const Status written = write_batch(batch); !written) {
    is_cut_due_ = true;
    static_cast<void>(cut_failed_append());  // if that fails too, the next append cuts first
    return written;
  }
  size_ += batch.size();
  RT_CRASH_POINT("journal.append.after");
  batched_sync_.note_write();
  return Unit{};
}

Status FileJournal::write_batch(std::string_view batch) {
#ifdef RT_CRASH_POINTS
  RT_CHECK(write_all(file_->get(), batch.substr(0, batch.size() / 2), path_));
  batch.remove_prefix(batch.size() / 2);
  RT_CRASH_POINT("journal.append.torn");
#endif
  return write_all(file_->get(), batch, path_);
}

Status FileJournal::cut_failed_append() {
  if (!is_cut_due_) return Unit{};
  if (::ftruncate(file_->get(), static_cast<off_t>(size_)) != 0) {
    return system_error("cannot cut a half-written record off " + path_.string(), errno);
  }
  is_cut_due_ = false;
  return Unit{};
}

Status FileJournal::snapshot(std::string_view state) {
  const std::string_view records[] = {state};
  RT_TRY(batch, encode_batch(records));
  RT_CHECK(cut_failed_append());
  RT_CHECK(rotate());
  const FileName name{Kind::Snapshot, segment_.term, segment_.segment};
  RT_TRY(temporary, write_temporary(path_of(name), encode_header(name) + batch));
  RT_CRASH_POINT("journal.snapshot.before_rename");
  RT_CHECK(publish(temporary, path_of(name)));
  RT_CRASH_POINT("journal.snapshot.after_rename");
  return delete_before(name);
}

Status FileJournal::sync() {
  if (auto failure = batched_sync_.take_error()) return *failure;
  return sync_segment();
}

Status FileJournal::sync_segment() {
  std::shared_ptr<const Fd> file;
  {
    const std::lock_guard lock(file_mutex_);
    file = file_;
  }
  if (::fdatasync(file->get()) != 0) return system_error("cannot sync the journal in " + folder_.string(), errno);
  struct stat facts {};
  if (::fstat(file->get(), &facts) != 0 || facts.st_nlink > 0) return Unit{};
  const std::lock_guard lock(file_mutex_);
  if (file == file_)  // else a snapshot has replaced it meanwhile
    return Error{Code::System, "the journal's file in " + folder_.string() + " was deleted while it was written"};
  return Unit{};
}

// The old segment is on the disk before the new one gets its first record, so that a crash of the machine leaves no
// hole between them.
Status FileJournal::rotate() {
  RT_CHECK(check_newest());
  RT_CHECK(sync());
  return create_segment(segment_.segment + 1, {});
}

Status FileJournal::create_segment(std::uint32_t segment, std::string_view after_header) {
  const FileName name{Kind::Segment, segment_.term, segment};
  const std::string head = encode_header(name) + std::string(after_header);
  RT_TRY(fd, open_file(path_of(name), O_WRONLY | O_APPEND | O_CREAT | O_EXCL));
  RT_CRASH_POINT("journal.rotate.after_create");
  Status written = write_all(fd.get(), head, path_of(name));
  if (written && ::fdatasync(fd.get()) != 0) written = system_error("cannot sync " + path_of(name).string(), errno);
  if (written) written = fsync_directory(folder_);
  if (!written) {
    ::unlink(path_of(name).c_str());
    return written;
  }
  const std::lock_guard lock(file_mutex_);
  file_ = std::make_shared<const Fd>(std::move(fd));
  segment_ = name;
  path_ = path_of(name);
  size_ = head_size_ = head.size();
  return Unit{};
}

Status FileJournal::check_newest() const {
  RT_TRY(files, list_files(folder_));
  for (const FileName& file : files) {
    if (file.term <= segment_.term) continue;
    return Error{Code::Refused, fmt::format("the journal in {} has a newer writer (its term is {}, ours {}): end this "
                                            "process, what it appends is void",
                                            folder_.string(), file.term, segment_.term)};
  }
  return Unit{};
}

Status FileJournal::delete_before(const FileName& snapshot) const {
  RT_CHECK(check_newest());
  RT_TRY(files, list_files(folder_));
  for (const FileName& file : files) {
    if (std::pair(file.term, file.segment) >= std::pair(snapshot.term, snapshot.segment)) continue;
    if (::unlink(path_of(file).c_str()) != 0 && errno != ENOENT) {
      return system_error("cannot delete " + path_of(file).string() + ", which a snapshot replaced", errno);
    }
  }
  return Unit{};
}

}  // namespace rt
