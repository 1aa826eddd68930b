#pragma once
// Store: the node's object store, as one process uses it. An object is written once, sealed, and then read by any
// process of the node where it lies.
//
// Owner: the process's client, and every object that was got from it. Threads: any. The agent is on no path here.
// Invariants: an object lives while a process or a message has a reference to it, whatever becomes of its maker; what a
// killed process had is dropped by the agent. Bounded: where there is no room `put` waits for `limit`, then says so
// (Unavailable, or NoSpace where the machine itself has no memory left); an object larger than the store is Invalid.
// Danger: the bytes are mapped writable in all processes of this user, which keep to the rules because they run this
// code. A process that forks without exec must not touch its parent's objects.

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "rt/runtime/store/table.h"
#include "rt/runtime/wire/large.h"

namespace rt {

// A reference on its way, as a message carries it.
struct PassedObject {
  ObjectId id;
  std::uint32_t at_entry = 0, at_word = 0;
};

class Store final : public LargeStore, public std::enable_shared_from_this<Store> {
 public:
  static constexpr std::chrono::milliseconds kPushBack{2000};

  // `slot`: this process's, which the agent gave it.
  static Result<std::shared_ptr<Store>> open(const std::string& path, std::uint32_t slot, std::uint32_t node);
  Store(store::Memory memory, std::uint32_t slot, std::uint32_t node);

  // An object that is being written: `bytes` are the maker's until `seal`.
  class Draft {
   public:
    Draft(Draft&& other) noexcept;
    Draft& operator=(Draft&&) = delete;
    ~Draft();  // gives it up
    char* bytes() const { return bytes_; }
    std::size_t size() const { return size_; }
    Large seal() &&;

   private:
    friend class Store;
    Draft(std::shared_ptr<Store> store, std::uint32_t entry, char* bytes, std::size_t size)
        : store_(std::move(store)), entry_(entry), bytes_(bytes), size_(size) {}
    std::shared_ptr<Store> store_;
    std::uint32_t entry_;
    char* bytes_;
    std::size_t size_;
  };
  Result<Draft> draft(std::size_t size, std::chrono::milliseconds limit = kPushBack);

  Result<Large> put(const void* bytes, std::size_t size) override;
  Result<Large> find(ObjectId id) override;

  // For a message to the process with the slot `to`: it has the reference, whatever becomes of this process.
  // Nothing where the object isn't of this store.
  std::optional<PassedObject> pass(const LargeBytes& object, std::uint32_t to);
  Result<Large> receive(const PassedObject& passed, std::uint32_t from);
  void take_back(const PassedObject& passed, std::uint32_t to);  // the message wasn't sent

  // The slot of a process of this node; 0: it has none.
  std::uint32_t slot_of(pid_t pid);
  std::uint32_t slot() const { return slot_; }
  bool is_dead(std::uint32_t slot) const;
  // Of a process that may be dead by now; 0: none of it is known any more.
  std::uint32_t slot_of_sender(pid_t pid);
  // What a dead process has sent to this one, and this one will never read.
  void drop_unread(std::uint32_t from);
  bool drop_unread_of(pid_t pid);  // false: it isn't dead, as far as the agent knows

  std::uint64_t capacity() const { return memory_.capacity(); }
  std::uint64_t used() const;  // bytes of the blocks that are taken; a slow count

 private:
  class Object;
  friend class Object;
  Result<Large> object(std::uint32_t entry, std::uint64_t generation, store::Place place);
  bool take(std::uint32_t entry, std::uint32_t blocks, std::chrono::milliseconds limit);

  store::Memory memory_;
  store::Blocks blocks_;
  const std::uint32_t slot_, node_;
  store::Table table_;
  std::mutex mutex_;                                // guards the slots
  std::unordered_map<pid_t, std::uint32_t> slots_;  // as they were when they were last looked for
};

// With stores past the cache where that is faster: who wrote it won't read it.
void copy_large(char* to, const char* from, std::size_t size);

}  // namespace rt
