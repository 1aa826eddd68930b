#include "rt/runtime/base/journal_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

namespace rt {
namespace fs = std::filesystem;
using namespace journal;

Result<JournalReader> JournalReader::open(fs::path folder) {
  while (true) {
    RT_TRY(layout, read_layout(folder));
    JournalReader reader(folder);
    if (layout.extents.empty()) return reader;
    Status entered = layout.snapshot ? reader.load_snapshot(*layout.snapshot) : Status(Unit{});
    if (entered) entered = reader.enter(layout.extents.front().file, 0);
    if (entered) return reader;
    if (entered.error().code != Code::NotFound) return entered.error();
  }  // NotFound: the writer's next snapshot deleted what the layout named, and a newer layout names the next
}

Result<JournalReader> JournalReader::resume(fs::path folder, JournalPosition from) {
  if (from.term == 0) return open(std::move(folder));
  JournalReader reader(std::move(folder));
  reader.at_ = from;
  const Status entered = reader.enter({Kind::Segment, from.term, from.segment}, from.offset);
  if (!entered) return entered.error().code == Code::NotFound ? reader.lost() : entered.error();
  return reader;
}

Result<std::vector<std::string>> JournalReader::poll() {
  std::vector<std::string> records;
  while (true) {
    RT_TRY(layout, read_layout(folder_));
    if (layout.extents.empty()) return records;
    if (at_.term == 0) {  // there was no journal until now
      if (layout.snapshot) return lost();
      RT_CHECK(enter(layout.extents.front().file, 0));
    }

    const FileName here{Kind::Segment, at_.term, at_.segment};
    const auto extent = std::find_if(layout.extents.begin(), layout.extents.end(),
                                     [&](const Extent& candidate) { return candidate.file == here; });
    if (extent == layout.extents.end()) return lost();
    const bool is_last = extent + 1 == layout.extents.end();
    RT_CHECK(read_segment(extent->end, is_last, records));
    if (is_last) return records;
    RT_CHECK(enter((extent + 1)->file, 0));
  }
}

Status JournalReader::load_snapshot(const FileName& name) {
  const fs::path path = folder_ / to_string(name);
  RT_TRY(bytes, read_file(path));
  const auto header = std::string_view(bytes).substr(0, kHeaderSize);
  RT_CHECK(check_header(header, name, path));
  Scan scan = scan_batches(std::string_view(bytes).substr(kHeaderSize));
  if (scan.tail != Tail::Whole || scan.records.size() != 1) {
    return Error{Code::Corrupt, path.string() + ": the snapshot at offset 24 is damaged: put it back from a copy"};
  }
  snapshot_ = std::move(scan.records[0]);
  return Unit{};
}

Status JournalReader::enter(const FileName& file, std::uint64_t offset) {
  RT_TRY(fd, open_file(folder_ / to_string(file), O_RDONLY));
  file_ = std::move(fd);
  at_ = {file.term, file.segment, offset};
  return Unit{};
}

Status JournalReader::read_segment(std::optional<std::uint64_t> end, bool is_last, std::vector<std::string>& records) {
  struct stat info {};
  if (::fstat(file_.get(), &info) != 0) return system_error("cannot stat " + path().string(), errno);
  const std::uint64_t size = end ? *end : static_cast<std::uint64_t>(info.st_size);
  if (size < at_.offset) {
    return Error{Code::Refused, fmt::format("{}: what was read after offset {} is void, a newer writer began there: "
                                            "open the journal anew",
                                            path().string(), size)};
  }
  RT_TRY(bytes, read_at(file_.get(), size - at_.offset, at_.offset, path()));
  RT_CHECK(skip_head(bytes));
  Scan scan = at_.offset == 0 ? Scan{.tail = bytes.empty() ? Tail::Whole : Tail::Torn} : scan_batches(bytes);
  unfinished_ = bytes.size() - scan.whole;
  at_.offset += scan.whole;
  std::move(scan.records.begin(), scan.records.end(), std::back_inserter(records));

  const bool is_closed = !is_last || end.has_value();
  const bool is_short = end && at_.offset != *end;
  if (scan.tail == Tail::Damaged || (is_closed && (scan.tail != Tail::Whole || is_short))) return damaged(scan);
  return Unit{};
}

// Takes the header and, in a term's first segment, its start off the front of `bytes`, once they are whole.
Status JournalReader::skip_head(std::string& bytes) {
  if (at_.offset != 0 || bytes.size() < kHeaderSize) return Unit{};
  RT_CHECK(check_header(bytes.substr(0, kHeaderSize), {Kind::Segment, at_.term, at_.segment}, path()));
  const std::size_t head = kHeaderSize + (at_.segment == 1 ? kTermStartSize : 0);
  if (bytes.size() < head) return Unit{};
  bytes.erase(0, head);
  at_.offset = head;
  return Unit{};
}

Error JournalReader::lost() const {
  return {Code::NotFound, path().string() + " was replaced by a snapshot while it was read: open the journal anew"};
}

Error JournalReader::damaged(const Scan& scan) const {
  const char* what = scan.tail == Tail::Whole ? "it ends too early" : "a record doesn't match its checksum";
  return {Code::Corrupt,
          fmt::format("{}: {} at offset {}, and others were written after it: put the file back from a copy",
                      path().string(), what, at_.offset)};
}

fs::path JournalReader::path() const { return folder_ / to_string(FileName{Kind::Segment, at_.term, at_.segment}); }

}  // namespace rt
