#pragma once
// MemoryJournal: a Journal without files, for simulations and tests.
//
// The disk is a plain value that the simulation owns and that outlives the journal: destroying the journal is the
// writer's death, opening another on the same disk its restart. Thread: one.

#include "rt/runtime/base/journal.h"

namespace rt {

struct MemoryDisk {
  JournalContents contents;
  std::uint32_t term = 0;  // of the last opening
};

OpenedJournal open_memory_journal(MemoryDisk& disk);

}  // namespace rt
