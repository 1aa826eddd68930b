#pragma once
// Table: the store's objects and who holds them, for one process.
//
// Owner: a Store or a Sweeper. Threads: any. Invariants: an object with a holder is neither freed nor changed; one that
// loses its last holder is freed by who took that away, and where that one dies, by the agent. A holder word that is
// set is one reference, and whose: what a killed process held is read off the words.

#include <optional>

#include "rt/runtime/store/blocks.h"

namespace rt::store {

// Where a holder word is.
struct Place {
  std::uint32_t entry = 0, word = 0;
};

class Table {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  Table(const Memory& memory, Blocks& blocks, std::uint32_t process)
      : memory_(memory), blocks_(blocks), process_(process) {}

  // An entry that this process makes. kNone: all are in use.
  std::uint32_t begin();
  std::uint64_t seal(std::uint32_t entry, std::uint64_t size, Place& place);  // its generation; held by this process
  void abandon(std::uint32_t entry);

  // One reference more. Nothing where there is no such object any more.
  std::optional<Place> add(std::uint32_t entry, std::uint64_t generation, std::uint32_t holder);
  // The reference at that place becomes another one's. False: it isn't `from`.
  bool change(Place place, std::uint32_t from, std::uint32_t to);
  // One reference less; of an object that is freed where it was the last.
  void drop(std::uint32_t entry, Place place, std::uint32_t holder);

  bool is_sealed(std::uint32_t entry, std::uint64_t generation) const;
  bool belongs(Place place, std::uint32_t entry) const;  // is it one of its holders?

  // For the agent, of a process that has died.
  void free_if_unheld(std::uint32_t entry);
  void finish_freeing(std::uint32_t entry);

 private:
  Entry& entry(std::uint32_t index) const { return memory_.entry(index); }
  std::optional<Place> take_word(std::uint32_t root, std::uint32_t holder);
  std::uint32_t append(std::uint32_t root, Entry& last);
  bool is_held(std::uint32_t entry) const;
  void undo(Place place, std::uint32_t holder);
  void free(std::uint32_t entry);
  void release_entry(std::uint32_t entry);

  const Memory& memory_;
  Blocks& blocks_;
  const std::uint32_t process_;
};

}  // namespace rt::store
