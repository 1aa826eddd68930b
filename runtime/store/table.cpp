#include "rt/runtime/store/table.h"

#include "rt/runtime/base/crash_point.h"

namespace rt::store {
namespace {

constexpr std::uint32_t kNoMore = UINT32_MAX;  // an object that is being freed: none may be appended

}  // namespace

std::uint32_t Table::begin() {
  Header& header = memory_.header();
  const auto claim = [&](std::uint32_t index) {
    Entry& one = entry(index);
    std::uint64_t seen = one.state.load(std::memory_order_acquire);
    const State state = State::of(seen);
    if (state.stage != Stage::Free) return false;
    const State mine{Stage::Making, process_, state.epoch + 1};
    if (!one.state.compare_exchange_strong(seen, mine.word(), std::memory_order_acq_rel)) return false;
    one.count.store(0, std::memory_order_relaxed);
    one.parent.store(0, std::memory_order_relaxed);
    one.more.store(0, std::memory_order_relaxed);
    return true;
  };
  for (std::uint32_t from : {header.entry_hint.load(std::memory_order_relaxed), std::uint32_t{0}}) {
    for (std::uint32_t i = from;; ++i) {
      std::uint32_t used = header.entries_used.load(std::memory_order_acquire);
      if (i >= used && used < memory_.layout().entries) {
        i = used;
        header.entries_used.compare_exchange_strong(used, used + 1, std::memory_order_acq_rel);
      } else if (i >= used) {
        break;
      }
      if (!claim(i)) continue;
      header.entry_hint.store(i + 1, std::memory_order_relaxed);
      RT_CRASH_POINT("store.begun");
      return i;
    }
  }
  return kNone;
}

std::uint64_t Table::seal(std::uint32_t index, std::uint64_t size, Place& place) {
  Entry& one = entry(index);
  const std::uint64_t generation = memory_.header().generation.fetch_add(1) + 1;
  one.size.store(size, std::memory_order_relaxed);
  one.generation.store(generation, std::memory_order_relaxed);
  place = *take_word(index, Holder::held(process_));  // who adds one to an object that is gone may just look in here
  const State state = State::of(one.state.load(std::memory_order_relaxed));
  RT_CRASH_POINT("store.before_seal");
  one.state.store(State{Stage::Sealed, 0, state.epoch + 1}.word(), std::memory_order_release);
  RT_CRASH_POINT("store.after_seal");
  return generation;
}

void Table::abandon(std::uint32_t index) {
  Entry& one = entry(index);
  const State state = State::of(one.state.load(std::memory_order_relaxed));
  one.state.store(State{Stage::Freeing, process_, state.epoch + 1}.word(), std::memory_order_release);
  free(index);
}

bool Table::is_sealed(std::uint32_t index, std::uint64_t generation) const {
  return index < memory_.layout().entries && entry(index).generation.load(std::memory_order_acquire) == generation &&
         State::of(entry(index).state.load(std::memory_order_acquire)).stage == Stage::Sealed;
}

bool Table::belongs(Place place, std::uint32_t index) const {
  if (place.entry >= memory_.layout().entries || place.word >= kHolders) return false;
  return place.entry == index || entry(place.entry).parent.load(std::memory_order_acquire) == index + 1;
}

// The word first, then the epoch: who looks for holders meanwhile and has passed by that word finds the epoch changed.
std::optional<Place> Table::add(std::uint32_t index, std::uint64_t generation, std::uint32_t holder) {
  if (!is_sealed(index, generation)) return std::nullopt;
  const auto place = take_word(index, holder);
  if (!place) return std::nullopt;
  RT_CRASH_POINT("store.holder_added");
  Entry& one = entry(index);
  std::uint64_t seen = one.state.load(std::memory_order_seq_cst);
  while (is_sealed(index, generation)) {
    State next = State::of(seen);
    if (next.stage != Stage::Sealed) break;
    ++next.epoch;
    if (one.state.compare_exchange_weak(seen, next.word(), std::memory_order_seq_cst)) return place;
  }
  undo(*place, holder);  // it was freed just now
  return std::nullopt;
}

// The word may be one of another object's by now.
void Table::undo(Place place, std::uint32_t holder) {
  if (!change(place, holder, 0)) return;
  const std::uint32_t parent = entry(place.entry).parent.load(std::memory_order_acquire);
  free_if_unheld(parent != 0 && parent <= memory_.layout().entries ? parent - 1 : place.entry);
}

std::optional<Place> Table::take_word(std::uint32_t root, std::uint32_t holder) {
  for (std::uint32_t index = root;;) {
    Entry& one = entry(index);
    for (std::uint32_t word = 0; word < kHolders; ++word) {
      std::uint32_t free = one.holders[word].load(std::memory_order_relaxed);
      if (free == 0 && one.holders[word].compare_exchange_strong(free, holder, std::memory_order_seq_cst))
        return Place{index, word};
    }
    const std::uint32_t more = one.more.load(std::memory_order_acquire);
    if (more == kNoMore) return std::nullopt;
    index = more != 0 ? more - 1 : append(root, one);
    if (index >= memory_.layout().entries) return std::nullopt;
  }
}

// Another entry behind the last one, or what another process has put there meanwhile.
std::uint32_t Table::append(std::uint32_t root, Entry& last) {
  const std::uint32_t added = begin();
  if (added == kNone) return kNone;
  Entry& one = entry(added);
  const std::uint64_t making = one.state.load(std::memory_order_relaxed);
  one.parent.store(root + 1, std::memory_order_release);
  std::uint32_t none = 0;
  if (!last.more.compare_exchange_strong(none, added + 1, std::memory_order_acq_rel)) {
    release_entry(added);
    return none == kNoMore ? kNone : none - 1;
  }
  RT_CRASH_POINT("store.appended");
  std::uint64_t seen = making;
  one.state.compare_exchange_strong(seen, State{Stage::More, 0, State::of(making).epoch + 1}.word());
  return added;
}

bool Table::change(Place place, std::uint32_t from, std::uint32_t to) {
  return entry(place.entry).holders[place.word].compare_exchange_strong(from, to, std::memory_order_seq_cst);
}

void Table::drop(std::uint32_t index, Place place, std::uint32_t holder) {
  if (!change(place, holder, 0)) return;
  RT_CRASH_POINT("store.holder_dropped");
  free_if_unheld(index);
}

bool Table::is_held(std::uint32_t index) const {
  for (std::uint32_t steps = 0; steps < memory_.layout().entries; ++steps) {
    const Entry& one = entry(index);
    for (const auto& holder : one.holders)
      if (holder.load(std::memory_order_seq_cst) != 0) return true;
    const std::uint32_t more = one.more.load(std::memory_order_acquire);
    if (more == 0 || more > memory_.layout().entries) return false;
    index = more - 1;
  }
  return true;
}

void Table::free_if_unheld(std::uint32_t index) {
  Entry& one = entry(index);
  std::uint64_t seen = one.state.load(std::memory_order_seq_cst);
  while (true) {
    State state = State::of(seen);
    if (state.stage != Stage::Sealed || is_held(index)) return;
    const State mine{Stage::Freeing, process_, state.epoch + 1};
    if (one.state.compare_exchange_strong(seen, mine.word(), std::memory_order_seq_cst)) return free(index);
  }
}

// What is here may be done a second time, by the agent.
void Table::free(std::uint32_t index) {
  Entry& one = entry(index);
  RT_CRASH_POINT("store.freeing");
  one.generation.store(0, std::memory_order_release);
  blocks_.give_back(index);
  while (true) {
    std::uint32_t more = one.more.load(std::memory_order_acquire);
    if (more == kNoMore) break;
    if (more == 0) {
      one.more.compare_exchange_strong(more, kNoMore, std::memory_order_acq_rel);
      continue;
    }
    Entry& next = entry(more - 1);
    std::uint32_t behind = 0;
    next.more.compare_exchange_strong(behind, kNoMore, std::memory_order_acq_rel);
    one.more.store(behind, std::memory_order_release);
    release_entry(more - 1);
  }
  release_entry(index);
}

void Table::release_entry(std::uint32_t index) {
  Entry& one = entry(index);
  const State state = State::of(one.state.load(std::memory_order_acquire));
  one.state.store(State{Stage::Free, 0, state.epoch + 1}.word(), std::memory_order_release);
  auto& hint = memory_.header().entry_hint;
  std::uint32_t seen = hint.load(std::memory_order_relaxed);
  while (index < seen && !hint.compare_exchange_weak(seen, index, std::memory_order_relaxed)) {
  }
}

void Table::finish_freeing(std::uint32_t index) {
  Entry& one = entry(index);
  const State state = State::of(one.state.load(std::memory_order_acquire));
  one.state.store(State{Stage::Freeing, process_, state.epoch + 1}.word(), std::memory_order_release);
  const std::uint32_t used = memory_.header().entries_used.load(std::memory_order_acquire);
  one.more.store(kNoMore, std::memory_order_release);  // those behind it are found by their parent
  for (std::uint32_t i = 0; i < used; ++i)
    if (entry(i).parent.load(std::memory_order_acquire) == index + 1 && i != index &&
        State::of(entry(i).state.load(std::memory_order_acquire)).stage == Stage::More)
      release_entry(i);
  free(index);
}

}  // namespace rt::store
