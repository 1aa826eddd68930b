#pragma once
// FileJournal: the writer of a journal in a folder; open_journal makes it. journal.h says what it promises,
// journal_format.h what the files hold.
//
// Owner and thread: as for any Journal. The thread of its BatchedSync shares only the current segment's descriptor.
// Always holds: the files end with a whole batch, or with one that a failed append left and the next cuts off first.
// Danger: where the file system has no locks, two writers are told apart by their terms only: the older is refused at
// its next segment or snapshot, and what it appended until then is void.

#include <memory>
#include <mutex>

#include "rt/runtime/base/batched_sync.h"
#include "rt/runtime/base/files.h"
#include "rt/runtime/base/journal.h"
#include "rt/runtime/base/journal_format.h"

namespace rt {

class FileJournal final : public Journal {
 public:
  // Begins `term`, whose predecessor ended at `end`. `lock` is held until the journal is destroyed.
  static Result<std::unique_ptr<FileJournal>> begin(const std::filesystem::path& folder, JournalOptions options,
                                                    Fd lock, std::uint32_t term, const journal::Position& end);

  Status append_all(std::span<const std::string_view> records) override;
  Status snapshot(std::string_view state) override;
  Status sync() override;

 private:
  FileJournal(std::filesystem::path folder, JournalOptions options, Fd lock, std::uint32_t term);
  Status create_segment(std::uint32_t segment, std::string_view after_header);
  Status rotate();
  Status cut_failed_append();
  Status write_batch(std::string_view batch);
  Status check_newest() const;
  Status delete_before(const journal::FileName& snapshot) const;
  Status sync_segment();
  std::filesystem::path path_of(const journal::FileName& name) const { return folder_ / to_string(name); }

  const std::filesystem::path folder_;
  const JournalOptions options_;
  const Fd lock_;
  journal::FileName segment_;       // the current one
  std::filesystem::path path_;      // its path
  std::uint64_t size_ = 0;          // its bytes, all whole batches
  std::uint64_t head_size_ = 0;     // of them, what it began with
  bool is_cut_due_ = false;         // bytes of a failed append follow them
  std::mutex file_mutex_;           // guards the pointer file_, which the sync thread copies
  std::shared_ptr<const Fd> file_;  // the current segment, opened for appending
  BatchedSync batched_sync_;        // last: its thread ends before what it uses
};

}  // namespace rt
