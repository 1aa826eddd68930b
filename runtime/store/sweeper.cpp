#include "rt/runtime/store/sweeper.h"

#include <fcntl.h>

#include <algorithm>

namespace rt::store {

Result<std::unique_ptr<Sweeper>> Sweeper::make(std::uint64_t capacity) {
  RT_TRY(memory, Memory::make(capacity));
  return std::make_unique<Sweeper>(std::move(memory));
}

Sweeper::Sweeper(Memory memory)
    : memory_(std::move(memory)),
      blocks_(memory_),
      table_(memory_, blocks_, 0),
      idle_(memory_.layout().blocks / kBlocksPerSegment) {
  memory_.header().processes.store(1);  // slot 0 is the agent's
}

std::uint32_t Sweeper::enter(pid_t pid) {
  bury(pid);  // an older process of the same number
  auto& slots = memory_.header().processes;
  std::uint32_t slot = 1;
  const auto is_free = [&](std::uint32_t one) {
    const std::uint32_t state = memory_.process(one).state.load();
    return state == Process::None || (state == Process::Dead && !has_sent(one));
  };
  while (slot < slots.load() && !is_free(slot)) ++slot;
  if (slot >= kMostProcesses) return 0;
  Process& process = memory_.process(slot);
  process.pid.store(static_cast<std::uint32_t>(pid));
  process.state.store(Process::Alive, std::memory_order_release);
  if (slot >= slots.load()) slots.store(slot + 1);
  return slot;
}

void Sweeper::bury(pid_t pid) {
  for (std::uint32_t slot = 1; slot < memory_.header().processes.load(); ++slot)
    if (memory_.process(slot).state.load() == Process::Alive &&
        memory_.process(slot).pid.load() == static_cast<std::uint32_t>(pid))
      bury_slot(slot);
}

// Dead first: who passes it something sees that, or what it passed is seen here.
void Sweeper::bury_slot(std::uint32_t slot) {
  memory_.process(slot).state.store(Process::Dead, std::memory_order_seq_cst);
  end_work_of(slot);
  const std::uint32_t used = memory_.header().entries_used.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < used; ++i) {
    Entry& entry = memory_.entry(i);
    for (std::uint32_t word = 0; word < kHolders; ++word) {
      const std::uint32_t holder = entry.holders[word].load(std::memory_order_seq_cst);
      const bool is_sent = Holder::is_under_way(holder) && Holder::sender(holder) == slot;
      const bool is_unread = is_sent && memory_.process(Holder::owner(holder)).state.load() != Process::Alive;
      if (holder == 0 || (Holder::owner(holder) != slot && !is_unread)) continue;
      const std::uint32_t parent = entry.parent.load(std::memory_order_acquire);
      table_.drop(parent != 0 ? parent - 1 : i, {i, word}, holder);
    }
  }
  // One that dropped the last holder of an object and died before it freed that has left no word of its own.
  for (std::uint32_t i = 0; i < used; ++i) table_.free_if_unheld(i);
  if (!has_sent(slot)) memory_.process(slot).state.store(Process::None, std::memory_order_release);
}

void Sweeper::end_work_of(std::uint32_t slot) {
  const std::uint32_t used = memory_.header().entries_used.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < used; ++i) {
    const State state = State::of(memory_.entry(i).state.load(std::memory_order_acquire));
    if (state.process != slot || (state.stage != Stage::Making && state.stage != Stage::Freeing)) continue;
    if (state.stage == Stage::Making && memory_.entry(i).parent.load(std::memory_order_acquire) != 0)
      settle_added(i);
    else
      table_.finish_freeing(i);
  }
}

// More holders for an object, which it may have put behind the others, or not yet.
void Sweeper::settle_added(std::uint32_t added) {
  Entry& one = memory_.entry(added);
  std::uint64_t seen = one.state.load(std::memory_order_acquire);
  const std::uint32_t epoch = State::of(seen).epoch;
  std::uint32_t at = one.parent.load(std::memory_order_acquire);
  for (std::uint32_t steps = 0; at != 0 && at <= memory_.layout().entries && steps < memory_.layout().entries;
       ++steps) {
    if (at - 1 == added) {
      one.state.compare_exchange_strong(seen, State{Stage::More, 0, epoch + 1}.word());
      return;
    }
    at = memory_.entry(at - 1).more.load(std::memory_order_acquire);
  }
  one.parent.store(0, std::memory_order_release);
  table_.finish_freeing(added);
}

bool Sweeper::has_sent(std::uint32_t slot) const {
  const std::uint32_t used = memory_.header().entries_used.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < used; ++i)
    for (const auto& word : memory_.entry(i).holders) {
      const std::uint32_t holder = word.load(std::memory_order_relaxed);
      if (holder != 0 && Holder::is_under_way(holder) && Holder::sender(holder) == slot) return true;
    }
  return false;
}

// Who has all blocks of a segment knows that nobody is about to write there.
void Sweeper::trim(std::uint64_t kept) {
  const std::uint32_t segments = memory_.layout().blocks / kBlocksPerSegment;
  for (std::uint32_t segment = static_cast<std::uint32_t>(std::min<std::uint64_t>(kept / kSegment, segments));
       segment < segments; ++segment) {
    if (!memory_.segment(segment).load()) continue;
    const std::uint32_t first = segment * kBlocksPerSegment;
    std::uint32_t taken = 0;
    while (taken < kBlocksPerSegment && memory_.block(first + taken).load(std::memory_order_relaxed) == 0) ++taken;
    if (taken < kBlocksPerSegment) {
      idle_[segment] = 0;
      continue;
    }
    if (++idle_[segment] < 2) continue;
    for (taken = 0; taken < kBlocksPerSegment; ++taken) {
      std::uint32_t free = 0;
      if (!memory_.block(first + taken).compare_exchange_strong(free, UINT32_MAX)) break;
    }
    if (taken == kBlocksPerSegment) {
      memory_.segment(segment).store(0, std::memory_order_release);
      (void)::fallocate(memory_.fd(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                        static_cast<off_t>(memory_.layout().bytes_at + segment * kSegment), kSegment);
    }
    while (taken > 0) memory_.block(first + --taken).store(0, std::memory_order_release);
    idle_[segment] = 0;
  }
}

std::uint64_t Sweeper::used() const {
  std::uint64_t taken = 0;
  for (std::uint32_t i = 0; i < memory_.layout().blocks; ++i)
    taken += memory_.block(i).load(std::memory_order_relaxed) != 0;
  return taken * kBlock;
}

std::uint64_t Sweeper::resident() const {
  std::uint64_t there = 0;
  for (std::uint32_t i = 0; i < memory_.layout().blocks / kBlocksPerSegment; ++i) there += memory_.segment(i).load();
  return there * kSegment;
}

std::uint64_t Sweeper::objects() const {
  std::uint64_t count = 0;
  for (std::uint32_t i = 0; i < memory_.header().entries_used.load(); ++i)
    count += State::of(memory_.entry(i).state.load()).stage == Stage::Sealed;
  return count;
}

}  // namespace rt::store
