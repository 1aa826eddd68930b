#pragma once
// InlineStore: the object store of a cluster in one process: objects are memory of that process.
//
// Owner: the process's ProcessStore, and every object that is left. Threads: any. As in a node's store, an object lives
// as long as somebody has it. Where there is no room `put` says so at once: while it waited, nobody could let go.

#include <memory>
#include <mutex>
#include <unordered_map>

#include "rt/runtime/wire/large.h"

namespace rt::detail {

class InlineStore final : public LargeStore, public std::enable_shared_from_this<InlineStore> {
 public:
  InlineStore(std::uint64_t capacity, std::uint32_t node) : capacity_(capacity), node_(node) {}

  Result<Large> put(const void* bytes, std::size_t size) override;
  Result<Large> find(ObjectId id) override;
  std::uint64_t used() const override;

 private:
  class Object;
  void forget(const Object& object);

  const std::uint64_t capacity_;
  const std::uint32_t node_;
  mutable std::mutex mutex_;                                                    // guards what follows
  std::unordered_map<std::uint64_t, std::weak_ptr<const LargeBytes>> objects_;  // by generation
  std::uint64_t used_ = 0;
};

}  // namespace rt::detail
