#pragma once
// Blocks: the store's bytes, a row of blocks of which an object takes as many in a row as it needs.
//
// Any process takes and gives back by itself: a block's word names the entry that has it, and an entry names the blocks
// that it has or is just taking, before it takes the first. So what a killed process took is found by its entries.
// Blocks are taken from below, where others were given back before: their pages are there, and in this process's
// mapping. Owner: a Store or a Sweeper. Threads: any.

#include <memory>

#include "rt/runtime/store/memory.h"

namespace rt::store {

class Blocks {
 public:
  explicit Blocks(const Memory& memory);

  // For an entry that is being made. False: so many in a row aren't free.
  bool take(std::uint32_t entry, std::uint32_t count);
  // Those that its entry names. Of one that was cut short too, and a second time.
  void give_back(std::uint32_t entry);

  // The system's pages for an entry's blocks. Code::NoSpace: there are none; nothing is touched, so nothing faults.
  Status get_pages(std::uint32_t entry);
  // Maps what this process hasn't touched yet, at once instead of by a fault a page.
  void map_pages(std::uint32_t entry, bool is_to_write);

  static std::uint32_t count_for(std::uint64_t size) {
    return static_cast<std::uint32_t>((size + kBlock - 1) / kBlock) + (size == 0 ? 1 : 0);
  }

 private:
  bool take_between(std::uint32_t entry, std::uint32_t count, std::uint32_t from, std::uint32_t to);
  bool claim(std::uint32_t entry, std::uint32_t first, std::uint32_t count, std::uint32_t& next);
  std::uint32_t after(std::uint32_t taken) const;

  const Memory& memory_;
  std::unique_ptr<std::atomic<std::uint8_t>[]> is_mapped_;  // by segment, in this process
};

// Bytes that the machine could still give. For the message where it can't, and so that it needn't.
std::uint64_t available_memory();

}  // namespace rt::store
