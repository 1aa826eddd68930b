#include "rt/runtime/base/journal_layout.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "rt/runtime/base/files.h"

namespace rt::journal {
namespace fs = std::filesystem;
namespace {

// Where the term before `term` ended; nothing where the writer of `term` died before it began.
Result<std::optional<Position>> read_term_start(const fs::path& folder, std::uint32_t term) {
  const FileName name{Kind::Segment, term, 1};
  const fs::path path = folder / to_string(name);
  RT_TRY(fd, open_file(path, O_RDONLY));
  RT_TRY(bytes, read_at(fd.get(), kHeaderSize + kTermStartSize, 0, path));
  if (bytes.size() < kHeaderSize + kTermStartSize) return std::optional<Position>();
  RT_CHECK(check_header(bytes.substr(0, kHeaderSize), name, path));
  const Scan scan = scan_batches(std::string_view(bytes).substr(kHeaderSize));
  const auto start = scan.records.size() == 1 ? decode_term_start(scan.records[0]) : std::nullopt;
  if (!start) return Error{Code::Corrupt, path.string() + ": the start of the term at offset 24 is damaged"};
  return start;
}

class Walk {
 public:
  Walk(const fs::path& folder, const std::vector<FileName>& files) : folder_(folder) {
    for (const FileName& file : files) {
      (file.kind == Kind::Segment ? segments_ : snapshots_).insert(file);
      layout_.highest_term = std::max(layout_.highest_term, file.term);
    }
  }

  Result<Layout> run() {
    RT_TRY(newest, newest_begun_term());
    std::optional<Position> end;
    for (std::uint32_t term = newest; term != 0;) {
      const auto snapshot = newest_snapshot(term, end);
      RT_CHECK(add_segments(term, snapshot ? snapshot->segment : 1, end));
      if (snapshot) {
        layout_.snapshot = snapshot;
        break;
      }
      RT_TRY(start, read_term_start(folder_, term));
      if (!start) return missing({Kind::Segment, term, 1}, "its start");
      if (start->term >= term) return Error{Code::Corrupt, "term " + std::to_string(term) + " follows a later one"};
      end = *start;
      term = start->term;
    }
    std::reverse(layout_.extents.begin(), layout_.extents.end());
    return std::move(layout_);
  }

 private:
  Error missing(const FileName& file, const char* what) const {
    return {Code::Corrupt, (folder_ / to_string(file)).string() + ": " + what +
                               " is missing, so the records from there on can't be read: put it back from a copy"};
  }

  // A term has begun when its start or a snapshot of it is whole. 0: none has.
  Result<std::uint32_t> newest_begun_term() const {
    std::set<std::uint32_t, std::greater<>> terms;
    for (const FileName& file : segments_) terms.insert(file.term);
    for (const std::uint32_t term : terms) {
      if (newest_snapshot(term, std::nullopt) || !segments_.contains({Kind::Segment, term, 1})) return term;
      RT_TRY(start, read_term_start(folder_, term));
      if (start || segments_.contains({Kind::Segment, term, 2})) return term;
    }
    return 0u;
  }

  // A snapshot after the end was taken by a writer that a newer one had replaced.
  std::optional<FileName> newest_snapshot(std::uint32_t term, const std::optional<Position>& end) const {
    std::optional<FileName> newest;
    for (const FileName& file : snapshots_) {
      if (file.term == term && (!end || file.segment <= end->segment)) newest = file;
    }
    return newest;
  }

  // The segments of `term` from `first` on, newest first.
  Status add_segments(std::uint32_t term, std::uint32_t first, const std::optional<Position>& end) {
    std::uint32_t last = first;
    for (const FileName& file : segments_) {
      if (file.term == term) last = std::max(last, file.segment);
    }
    if (end) last = end->segment;
    for (std::uint32_t segment = last; segment >= first; --segment) {
      const FileName file{Kind::Segment, term, segment};
      if (!segments_.contains(file)) return missing(file, "this segment");
      layout_.extents.push_back({file, end && segment == last ? std::optional(end->offset) : std::nullopt});
    }
    return Unit{};
  }

  const fs::path& folder_;
  std::set<FileName> segments_;
  std::set<FileName> snapshots_;
  Layout layout_;
};

}  // namespace

Result<std::vector<FileName>> list_files(const fs::path& folder) {
  std::vector<FileName> files;
  std::error_code code;
  for (fs::directory_iterator it(folder, code), end; !code && it != end; it.increment(code)) {
    if (const auto name = parse_file_name(it->path().filename().string())) files.push_back(*name);
  }
  if (code) {
    Error error = system_error("cannot list the journal's folder " + folder.string(), code.value());
    if (code.value() == ENOENT) error.code = Code::NotFound;
    return error;
  }
  std::sort(files.begin(), files.end());
  return files;
}

Result<Layout> read_layout(const fs::path& folder) {
  while (true) {
    RT_TRY(files, list_files(folder));
    Result<Layout> layout = Walk(folder, files).run();
    if (layout) return layout;
    RT_TRY(files_after, list_files(folder));
    if (files == files_after) return layout;  // else a snapshot deleted files under this walk, and nothing is wrong
  }
}

}  // namespace rt::journal
