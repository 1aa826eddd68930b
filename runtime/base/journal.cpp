#include "rt/runtime/base/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "rt/runtime/base/file_journal.h"
#include "rt/runtime/base/journal_reader.h"
#include "rt/runtime/base/lock_holder.h"

namespace rt {
namespace fs = std::filesystem;
namespace {

// Who holds the lock on `path`, in words.
Result<std::string> writer_named_in(int fd, const fs::path& path) {
  RT_TRY(written, read_at(fd, 32, 0, path));
  if (!written.empty()) return "process " + written;
  if (const auto holder = lock_holder(path)) return "process " + std::to_string(*holder);
  return fmt::format("a process that can't be named ({} is locked and holds no pid; fuser {} may tell)", path.string(),
                     path.string());
}

// The lock file, locked and holding our pid.
Result<Fd> take_lock(const fs::path& folder, std::vector<std::string>& notices) {
  const fs::path path = folder / "lock";
  RT_TRY(fd, open_file(path, O_RDWR | O_CREAT));
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) {
      RT_TRY(writer, writer_named_in(fd.get(), path));
      return Error{Code::Refused,
                   fmt::format("the journal in {} is being written by {}: end it first, or choose another folder",
                               folder.string(), writer)};
    }
    notices.push_back(fmt::format("{}: no locks on this file system ({}), so nothing but you prevents a second writer",
                                  path.string(), system_error("flock", errno).message));
  }
  if (::ftruncate(fd.get(), 0) != 0) return system_error("cannot write " + path.string(), errno);
  RT_CHECK(write_all(fd.get(), std::to_string(::getpid()), path));
  return fd;
}

// What a writer that was killed in a snapshot left.
Status remove_temporaries(const fs::path& folder) {
  std::error_code code;
  std::vector<fs::path> leftovers;
  for (fs::directory_iterator it(folder, code), end; !code && it != end; it.increment(code)) {
    if (it->path().filename().string().find(".rts.tmp-") != std::string::npos) leftovers.push_back(it->path());
  }
  for (const fs::path& path : leftovers) RT_CHECK(remove_tree(path));
  if (code) return system_error("cannot list " + folder.string(), code.value());
  return Unit{};
}

}  // namespace

Result<OpenedJournal> open_journal(const fs::path& folder, JournalOptions options) {
  OpenedJournal opened;
  RT_CHECK(make_folders(folder));
  RT_TRY(lock, take_lock(folder, opened.notices));
  RT_CHECK(remove_temporaries(folder));

  RT_TRY(reader, JournalReader::open(folder));
  RT_TRY(records, reader.poll());
  opened.contents = {reader.snapshot(), std::move(records)};
  if (reader.unfinished_bytes() > 0) {
    const auto [term, segment, offset] = reader.position();
    opened.notices.push_back(
        fmt::format("{}: the last record was torn by the end of its writer; {} bytes from offset {} on were cut off",
                    (folder / to_string(journal::FileName{journal::Kind::Segment, term, segment})).string(),
                    reader.unfinished_bytes(), offset));
  }
  RT_TRY(layout, journal::read_layout(folder));
  opened.term = layout.highest_term + 1;
  RT_TRY(journal, FileJournal::begin(folder, options, std::move(lock), opened.term, reader.position()));
  opened.journal = std::move(journal);
  return opened;
}

}  // namespace rt
