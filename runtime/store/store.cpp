#include "rt/runtime/store/store.h"

#include <algorithm>

#include "rt/runtime/base/byte_size.h"
#include "rt/runtime/base/clock.h"
#include "rt/runtime/base/crash_point.h"
#include "rt/runtime/net/futex.h"

namespace rt {

using store::Holder;
using store::Place;

class Store::Object final : public LargeBytes {
 public:
  Object(std::shared_ptr<Store> store, Place place, ObjectId id, std::string_view bytes)
      : store_(std::move(store)), place_(place) {
    id_ = id;
    bytes_ = bytes;
  }
  ~Object() override { store_->table_.drop(id_.entry, place_, Holder::held(store_->slot_)); }
  const Store* store() const { return store_.get(); }

 private:
  const std::shared_ptr<Store> store_;
  const Place place_;
};

Store::Store(store::Memory memory, std::uint32_t slot, std::uint32_t node)
    : memory_(std::move(memory)), blocks_(memory_), slot_(slot), node_(node), table_(memory_, blocks_, slot) {}

Result<std::shared_ptr<Store>> Store::open(const std::string& path, std::uint32_t slot, std::uint32_t node) {
  RT_TRY(memory, store::Memory::open(path));
  return std::make_shared<Store>(std::move(memory), slot, node);
}

// --- making ---------------------------------------------------------------------------------------------------------

Store::Draft::Draft(Draft&& other) noexcept
    : store_(std::move(other.store_)), entry_(other.entry_), bytes_(other.bytes_), size_(other.size_) {}

Store::Draft::~Draft() {
  if (store_) store_->table_.abandon(entry_);
}

Large Store::Draft::seal() && {
  Place place;
  const std::uint64_t generation = store_->table_.seal(entry_, size_, place);
  const auto store = std::move(store_);
  return std::make_shared<Object>(store, place, ObjectId{generation, store->node_, entry_},
                                  std::string_view(bytes_, size_));
}

Result<Store::Draft> Store::draft(std::size_t size, std::chrono::milliseconds limit) {
  if (size > capacity())
    return Error{Code::Invalid, "an object of " + byte_size(size) + " is larger than the node's object store (" +
                                    byte_size(capacity()) + "): give that more by ConnectOptions::object_store"};
  const std::uint32_t entry = table_.begin();
  if (entry == store::Table::kNone)
    return Error{Code::Unavailable, "the node's object store holds " + std::to_string(memory_.layout().entries) +
                                        " objects, and no more: drop references that aren't needed"};
  if (!take(entry, store::Blocks::count_for(size), limit)) {
    table_.abandon(entry);
    return Error{Code::Unavailable, "no room for an object of " + byte_size(size) + " in the node's object store: " +
                                        byte_size(used()) + " of its " + byte_size(capacity()) +
                                        " are in use; drop references that aren't needed, or give the store more by "
                                        "ConnectOptions::object_store"};
  }
  if (const Status pages = blocks_.get_pages(entry); !pages) {
    table_.abandon(entry);
    return pages.error();
  }
  blocks_.map_pages(entry, /*is_to_write=*/true);
  RT_CRASH_POINT("store.writing");
  return Draft(shared_from_this(), entry, memory_.bytes(memory_.entry(entry).first.load()), size);
}

// Pushes back where there is no room: until some is, or the limit.
bool Store::take(std::uint32_t entry, std::uint32_t blocks, std::chrono::milliseconds limit) {
  if (blocks_.take(entry, blocks)) return true;
  store::Header& header = memory_.header();
  const TimePoint until = SystemClock().now() + limit;
  header.waiting.fetch_add(1, std::memory_order_seq_cst);
  bool is_taken = false;
  while (true) {
    const std::uint32_t seen = header.freed.load(std::memory_order_seq_cst);
    is_taken = blocks_.take(entry, blocks);
    const auto left = until - SystemClock().now();
    if (is_taken || left <= std::chrono::nanoseconds(0)) break;
    futex_wait(header.freed, seen, left);
  }
  header.waiting.fetch_sub(1, std::memory_order_seq_cst);
  return is_taken;
}

Result<Large> Store::put(const void* bytes, std::size_t size) {
  RT_TRY(draft, this->draft(size));
  copy_large(draft.bytes(), static_cast<const char*>(bytes), size);
  return std::move(draft).seal();
}

std::uint64_t Store::used() const {
  std::uint64_t taken = 0;
  for (std::uint32_t i = 0; i < memory_.layout().blocks; ++i)
    taken += memory_.block(i).load(std::memory_order_relaxed) != 0;
  return taken * store::kBlock;
}

// --- references -----------------------------------------------------------------------------------------------------

// `place` is this process's reference to it.
Result<Large> Store::object(std::uint32_t index, std::uint64_t generation, Place place) {
  const store::Entry& entry = memory_.entry(index);
  const std::uint64_t size = entry.size.load(std::memory_order_acquire);
  const std::uint32_t first = entry.first.load(), count = entry.count.load();
  if (size > std::uint64_t{count} * store::kBlock || count > memory_.layout().blocks ||
      first > memory_.layout().blocks - count)
    return Error{Code::Corrupt, "an object of the node's store has sizes that don't fit"};
  if (size >= store::kBlock) blocks_.map_pages(index, /*is_to_write=*/false);
  return Large(std::make_shared<Object>(shared_from_this(), place, ObjectId{generation, node_, index},
                                        std::string_view(memory_.bytes(first), size)));
}

Result<Large> Store::find(ObjectId id) {
  const auto place = table_.add(id.entry, id.generation, Holder::held(slot_));
  if (!place)
    return Error{Code::Lost, "object " + std::to_string(id.generation) + " of node " + std::to_string(id.node) +
                                 " is gone: nothing held a reference to it any more, or its node was lost"};
  return object(id.entry, id.generation, *place);
}

std::optional<PassedObject> Store::pass(const LargeBytes& object, std::uint32_t to) {
  const auto* const own = dynamic_cast<const Object*>(&object);
  if (!own || own->store() != this || to == 0) return std::nullopt;
  const ObjectId id = object.id();
  const auto place = table_.add(id.entry, id.generation, Holder::under_way(slot_, to));
  if (!place) return std::nullopt;
  RT_CRASH_POINT("store.passed");
  const PassedObject passed{id, place->entry, place->word};
  if (!is_dead(to)) return passed;
  take_back(passed, to);  // whoever cleans up after it may have been here before
  return std::nullopt;
}

Result<Large> Store::receive(const PassedObject& passed, std::uint32_t from) {
  const Place place{passed.at_entry, passed.at_word};
  if (!table_.is_sealed(passed.id.entry, passed.id.generation) || !table_.belongs(place, passed.id.entry) ||
      !table_.change(place, Holder::under_way(from, slot_), Holder::held(slot_)))
    return Error{Code::Lost, "a message came without the object that it refers to: it is gone"};
  RT_CRASH_POINT("store.received");
  return object(passed.id.entry, passed.id.generation, place);
}

void Store::take_back(const PassedObject& passed, std::uint32_t to) {
  table_.drop(passed.id.entry, {passed.at_entry, passed.at_word}, Holder::under_way(slot_, to));
}

// --- processes ------------------------------------------------------------------------------------------------------

std::uint32_t Store::slot_of(pid_t pid) {
  const auto is_it = [&](std::uint32_t slot) {
    const store::Process& process = memory_.process(slot);
    return process.state.load(std::memory_order_acquire) == store::Process::Alive &&
           process.pid.load(std::memory_order_acquire) == static_cast<std::uint32_t>(pid);
  };
  const std::lock_guard lock(mutex_);
  const auto known = slots_.find(pid);
  if (known != slots_.end() && is_it(known->second)) return known->second;
  const std::uint32_t used = std::min(memory_.header().processes.load(), store::kMostProcesses);
  for (std::uint32_t slot = 1; slot < used; ++slot) {
    if (!is_it(slot)) continue;
    if (slots_.size() > 2 * store::kMostProcesses) slots_.clear();
    return slots_[pid] = slot;
  }
  return 0;
}

bool Store::is_dead(std::uint32_t slot) const {
  return memory_.process(slot).state.load(std::memory_order_acquire) != store::Process::Alive;
}

std::uint32_t Store::slot_of_sender(pid_t pid) {
  if (const std::uint32_t slot = slot_of(pid)) return slot;
  const std::uint32_t used = std::min(memory_.header().processes.load(), store::kMostProcesses);
  for (std::uint32_t slot = 1; slot < used; ++slot)
    if (memory_.process(slot).state.load(std::memory_order_acquire) == store::Process::Dead &&
        memory_.process(slot).pid.load(std::memory_order_acquire) == static_cast<std::uint32_t>(pid))
      return slot;
  return 0;
}

bool Store::drop_unread_of(pid_t pid) {
  if (slot_of(pid) != 0) return false;
  if (const std::uint32_t slot = slot_of_sender(pid)) drop_unread(slot);
  return true;
}

void Store::drop_unread(std::uint32_t from) {
  const std::uint32_t under_way = Holder::under_way(from, slot_);
  const std::uint32_t used = memory_.header().entries_used.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < used; ++i) {
    const store::Entry& entry = memory_.entry(i);
    for (std::uint32_t word = 0; word < store::kHolders; ++word) {
      if (entry.holders[word].load(std::memory_order_relaxed) != under_way) continue;
      const std::uint32_t parent = entry.parent.load(std::memory_order_acquire);
      table_.drop(parent != 0 ? parent - 1 : i, {i, word}, under_way);
    }
  }
}

}  // namespace rt
