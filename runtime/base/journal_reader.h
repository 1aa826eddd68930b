#pragma once
// JournalReader: reads a journal, also while it is being written, and goes on where it stopped.
//
// Owner: whoever looks (a restart, `tune show`, a test). Thread: one at a time. It takes no lock and changes nothing.
// Always holds: what `poll` has returned, in order, is a prefix of what was appended.
// Danger: a snapshot by the writer deletes segments; a reader that is further behind gets NotFound and must be opened
// anew, which starts it from that snapshot.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "rt/runtime/base/files.h"
#include "rt/runtime/base/journal_layout.h"

namespace rt {

using JournalPosition = journal::Position;

class JournalReader {
 public:
  // At the beginning: the newest snapshot, then the records after it.
  // NotFound: no such folder. A folder without a journal is an empty one. Refused, Corrupt: as in open_journal.
  static Result<JournalReader> open(std::filesystem::path folder);

  // At `from`, which `position()` of an earlier reader gave. NotFound: a snapshot has replaced that part.
  static Result<JournalReader> resume(std::filesystem::path folder, JournalPosition from);

  // The state before the first record that `poll` returns; none where the journal has none, or after `resume`.
  const std::optional<std::string>& snapshot() const { return snapshot_; }

  // The records appended since the last poll. One that is still being written comes whole with a later poll.
  // Corrupt: a batch in the middle doesn't check; the message names the file and the offset.
  // Refused: an older writer's records were read that a newer term has declared void; open anew.
  // NotFound: a snapshot has replaced what comes next; open anew. After any Error this reader is of no more use.
  Result<std::vector<std::string>> poll();

  // Where the next record will begin.
  JournalPosition position() const { return at_; }

  // Bytes after position() at the end of the journal that aren't a whole batch, as of the last poll: a record being
  // written, or, where no writer lives, one that was torn.
  std::uint64_t unfinished_bytes() const { return unfinished_; }

 private:
  explicit JournalReader(std::filesystem::path folder) : folder_(std::move(folder)) {}
  Status load_snapshot(const journal::FileName& name);
  Status enter(const journal::FileName& file, std::uint64_t offset);
  Status read_segment(std::optional<std::uint64_t> end, bool is_last, std::vector<std::string>& records);
  Status skip_head(std::string& bytes);
  Error lost() const;
  Error damaged(const journal::Scan& scan) const;
  std::filesystem::path path() const;

  std::filesystem::path folder_;
  std::optional<std::string> snapshot_;
  JournalPosition at_;  // term 0: nothing was there to read so far
  Fd file_;             // the segment of at_
  std::uint64_t unfinished_ = 0;
};

}  // namespace rt
