#pragma once
// Layout: which parts of which files are the journal, found from the names and the start of each term.
//
// A term's start names the end of the term before it, so the terms form a chain, walked from the newest back to the
// newest snapshot on it. What an older writer appended past its end, or in segments and snapshots after it, is not in
// the chain and so never read.
// Owner: none, pure but for reading. Thread: any; a writer may be at work meanwhile.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "rt/runtime/base/journal_format.h"

namespace rt::journal {

struct Extent {
  FileName file;                     // a segment
  std::optional<std::uint64_t> end;  // where the next term says that it ends; none: at its last whole batch
  bool operator==(const Extent&) const = default;
};

struct Layout {
  std::optional<FileName> snapshot;  // the state before extents.front()
  std::vector<Extent> extents;       // oldest first
  std::uint32_t highest_term = 0;    // of any file, also of a term whose writer died before it began
};

// All journal files in `folder`, sorted. NotFound where there is no such folder.
Result<std::vector<FileName>> list_files(const std::filesystem::path& folder);

// Corrupt: a segment of the chain is missing or its header or start is damaged. Files named in the answer may be
// deleted by the writer's next snapshot.
Result<Layout> read_layout(const std::filesystem::path& folder);

}  // namespace rt::journal
