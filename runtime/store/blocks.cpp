#include "rt/runtime/store/blocks.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <fstream>

#include "rt/runtime/base/byte_size.h"
#include "rt/runtime/base/crash_point.h"
#include "rt/runtime/net/futex.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22  // Linux 5.14; where it isn't known, pages come one by one
#define MADV_POPULATE_WRITE 23
#endif

namespace rt::store {
namespace {

// Of the searches for at least `count` blocks.
int size_class(std::uint32_t count) { return std::bit_width(count - 1); }

void lower(std::atomic<std::uint32_t>& word, std::uint32_t to) {
  std::uint32_t seen = word.load(std::memory_order_relaxed);
  while (to < seen && !word.compare_exchange_weak(seen, to, std::memory_order_relaxed)) {
  }
}

}  // namespace

std::uint64_t available_memory() {
  std::ifstream file("/proc/meminfo");
  for (std::string name; file >> name; file.ignore(1000, '\n')) {
    std::uint64_t kib = 0;
    if (name == "MemAvailable:" && file >> kib) return kib << 10;
  }
  return UINT64_MAX;  // it can't be told
}

Blocks::Blocks(const Memory& memory)
    : memory_(memory), is_mapped_(new std::atomic<std::uint8_t>[memory.layout().blocks / kBlocksPerSegment]()) {}

bool Blocks::take(std::uint32_t entry, std::uint32_t count) {
  const std::uint32_t blocks = memory_.layout().blocks;
  if (count > blocks) return false;
  auto& hint = memory_.header().hints[size_class(count)];
  const std::uint32_t from = std::min(hint.load(std::memory_order_relaxed), blocks);
  if (!take_between(entry, count, from, blocks) &&
      !(from > 0 && take_between(entry, count, 0, std::min(from + count, blocks))))
    return false;
  hint.store(memory_.entry(entry).first.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
  return true;
}

// Looks at the last block of a place first: where that is taken, all places up to it are.
bool Blocks::take_between(std::uint32_t entry, std::uint32_t count, std::uint32_t from, std::uint32_t to) {
  for (std::uint32_t first = from; first + count <= to;) {
    std::uint32_t free = count;
    while (free > 0 && memory_.block(first + free - 1).load(std::memory_order_relaxed) == 0) --free;
    if (free > 0)
      first = after(first + free - 1);
    else if (claim(entry, first, count, first))
      return true;
  }
  return false;
}

// The block after the object that has this one.
std::uint32_t Blocks::after(std::uint32_t taken) const {
  const std::uint32_t owner = memory_.block(taken).load(std::memory_order_relaxed);
  if (owner == 0 || owner > memory_.layout().entries) return taken + 1;
  const Entry& entry = memory_.entry(owner - 1);
  const std::uint32_t first = entry.first.load(std::memory_order_relaxed);
  const std::uint32_t end = first + entry.count.load(std::memory_order_relaxed);
  return first <= taken && end > taken && end <= memory_.layout().blocks ? end : taken + 1;
}

bool Blocks::claim(std::uint32_t entry, std::uint32_t first, std::uint32_t count, std::uint32_t& next) {
  Entry& of = memory_.entry(entry);
  of.first.store(first, std::memory_order_relaxed);
  of.count.store(count, std::memory_order_release);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (i == count / 2) RT_CRASH_POINT("store.taking_blocks");
    std::uint32_t free = 0;
    if (memory_.block(first + i).compare_exchange_strong(free, entry + 1, std::memory_order_acq_rel)) continue;
    for (std::uint32_t taken = 0; taken < i; ++taken) memory_.block(first + taken).store(0, std::memory_order_release);
    next = first + i + 1;
    return false;
  }
  return true;
}

void Blocks::give_back(std::uint32_t entry) {
  Entry& of = memory_.entry(entry);
  const std::uint32_t first = of.first.load(std::memory_order_acquire),
                      count = of.count.load(std::memory_order_acquire);
  if (count == 0 || count > memory_.layout().blocks || first > memory_.layout().blocks - count) return;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (i == count / 2) RT_CRASH_POINT("store.giving_blocks_back");
    auto& block = memory_.block(first + i);
    if (block.load(std::memory_order_relaxed) == entry + 1) block.store(0, std::memory_order_release);
  }
  Header& header = memory_.header();
  for (int i = 0; i < 32 && (i < 2 || std::uint32_t{1} << (i - 2) <= count); ++i) lower(header.hints[i], first);
  header.freed.fetch_add(1, std::memory_order_seq_cst);
  if (header.waiting.load(std::memory_order_seq_cst) > 0) futex_wake_all(header.freed);
}

Status Blocks::get_pages(std::uint32_t entry) {
  const Entry& of = memory_.entry(entry);
  const std::uint32_t first = of.first.load() / kBlocksPerSegment;
  const std::uint32_t last = (of.first.load() + of.count.load() - 1) / kBlocksPerSegment;
  for (std::uint32_t begin = first; begin <= last; ++begin) {
    if (memory_.segment(begin).load(std::memory_order_acquire)) continue;
    std::uint32_t end = begin;
    while (end <= last && !memory_.segment(end).load(std::memory_order_acquire)) ++end;
    const std::size_t size = (end - begin) * kSegment, offset = memory_.layout().bytes_at + begin * kSegment;
    const std::string wanted = byte_size(size) + " more memory for the node's object store";
    constexpr std::uint64_t kSpared = 64 << 20;
    if (const std::uint64_t left = available_memory(); left < size + kSpared)
      return Error{Code::NoSpace, "no room for " + wanted + ": the machine has " + byte_size(left) +
                                      " left; drop references that aren't needed, or give the store less"};
    int rc;
    do rc = ::fallocate(memory_.fd(), 0, static_cast<off_t>(offset), static_cast<off_t>(size));
    while (rc != 0 && errno == EINTR);
    if (rc != 0) return system_error("no room for " + wanted, errno == ENOMEM ? ENOSPC : errno);
    for (std::uint32_t i = begin; i < end; ++i) memory_.segment(i).store(1, std::memory_order_release);
    begin = end;
  }
  return Unit{};
}

void Blocks::map_pages(std::uint32_t entry, bool is_to_write) {
  const Entry& of = memory_.entry(entry);
  const std::uint32_t first = of.first.load() / kBlocksPerSegment;
  const std::uint32_t last = (of.first.load() + of.count.load() - 1) / kBlocksPerSegment;
  for (std::uint32_t i = first; i <= last; ++i) {
    if (is_mapped_[i].exchange(1, std::memory_order_relaxed)) continue;
    std::uint32_t end = i + 1;
    while (end <= last && !is_mapped_[end].exchange(1, std::memory_order_relaxed)) ++end;
    (void)::madvise(memory_.bytes(i * kBlocksPerSegment), (end - i) * kSegment,
                    is_to_write ? MADV_POPULATE_WRITE : MADV_POPULATE_READ);
    i = end;
  }
}

}  // namespace rt::store
