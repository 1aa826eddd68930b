#pragma once
// Journal: the order of events that a state machine accepted, kept so that a restart can replay them.
//
// Owner: the state machine's process; one writer at a time. Thread: one at a time (the owner's); the file journal has
// a thread of its own that only calls fdatasync, joined when the journal is destroyed.
// Promises: an append that returned survives the death of any process at once. It survives a crash of the machine
// from the next batched fsync on (JournalOptions::sync_interval), or from `sync`.
// Records are opaque bytes. Each opening starts a new term, higher than all before it and on the disk already, so a
// term can serve as an epoch.
// Danger: a forked child holds the lock as long as it lives, unless it calls exec.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rt/runtime/base/result.h"

namespace rt {

class Journal {
 public:
  virtual ~Journal() = default;

  // All of `records` or, where it fails or the process dies, none of them. One write, at most 256 MiB.
  // After an Error (a full disk) nothing was appended and the journal still works: the same call may be made again.
  virtual Status append_all(std::span<const std::string_view> records) = 0;
  Status append(std::string_view record) { return append_all({&record, 1}); }

  // `state` stands for every record appended so far; those are deleted.
  // After an Error both the records and the snapshot before stand.
  virtual Status snapshot(std::string_view state) = 0;

  // Returns when all that was appended is on the disk.
  virtual Status sync() = 0;
};

// What a restart replays: the newest snapshot, if one was taken, and the records after it.
struct JournalContents {
  std::optional<std::string> snapshot;
  std::vector<std::string> records;
  bool operator==(const JournalContents&) const = default;
};

struct OpenedJournal {
  std::unique_ptr<Journal> journal;
  JournalContents contents;
  std::uint32_t term = 0;            // of this opening, from 1
  std::vector<std::string> notices;  // for a person: what was cut off, what the file system lacks
};

struct JournalOptions {
  std::uint64_t segment_bytes = 64 << 20;       // a segment that would grow past this is followed by a new one
  std::chrono::milliseconds sync_interval{50};  // at most this long is what was appended not yet asked onto the disk
};

// Opens the journal in `folder` for writing, or makes an empty one.
// Refused: another writer holds it (its pid is named), or the format is another version's (both are named).
// Corrupt: a record in the middle doesn't check; file and offset are named. A torn end is no error but a notice.
Result<OpenedJournal> open_journal(const std::filesystem::path& folder, JournalOptions options = {});

}  // namespace rt
