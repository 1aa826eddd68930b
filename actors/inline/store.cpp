#include "rt/actors/inline/store.h"

#include <atomic>
#include <cstring>
#include <new>

#include "rt/runtime/base/byte_size.h"

namespace rt::detail {
namespace {

constexpr std::size_t kPage = 4096;

std::size_t whole_pages(std::size_t size) { return (size + kPage - 1) / kPage * kPage; }

// No two clusters of a process call theirs the same.
std::uint64_t next_generation() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

class InlineStore::Object final : public LargeBytes {
 public:
  Object(std::shared_ptr<InlineStore> store, char* memory, std::size_t size)
      : store_(std::move(store)), memory_(memory) {
    bytes_ = {memory, size};
    id_ = {.generation = next_generation(), .node = store_->node_};
  }
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  ~Object() override {
    store_->forget(*this);
    ::operator delete(memory_, std::align_val_t(kPage));
  }

 private:
  const std::shared_ptr<InlineStore> store_;
  char* const memory_;
};

Result<Large> InlineStore::put(const void* bytes, std::size_t size) {
  if (size > capacity_)
    return Error{Code::Invalid, "an object of " + byte_size(size) + " is larger than the node's object store (" +
                                    byte_size(capacity_) + "): give that more by ConnectOptions::object_store"};
  {
    const std::lock_guard lock(mutex_);
    if (used_ + whole_pages(size) > capacity_)
      return Error{Code::Unavailable, "no room for an object of " + byte_size(size) + " in the node's object store: " +
                                          byte_size(used_) + " of its " + byte_size(capacity_) +
                                          " are in use; drop references that aren't needed, or give the store more by "
                                          "ConnectOptions::object_store"};
  }
  void* const memory = ::operator new(whole_pages(size), std::align_val_t(kPage), std::nothrow);
  if (!memory) return Error{Code::NoSpace, "the machine has no memory left for an object of " + byte_size(size)};
  if (size > 0) std::memcpy(memory, bytes, size);
  auto object = std::make_shared<const Object>(shared_from_this(), static_cast<char*>(memory), size);
  const std::lock_guard lock(mutex_);
  used_ += whole_pages(size);
  objects_[object->id().generation] = object;
  return Large(std::move(object));
}

Result<Large> InlineStore::find(ObjectId id) {
  {
    const std::lock_guard lock(mutex_);
    const auto it = objects_.find(id.generation);
    if (it != objects_.end())
      if (Large object = it->second.lock()) return object;
  }
  return Error{Code::Lost, "object " + std::to_string(id.generation) + " of node " + std::to_string(id.node) +
                               " is gone: nothing held a reference to it any more"};
}

std::uint64_t InlineStore::used() const {
  const std::lock_guard lock(mutex_);
  return used_;
}

void InlineStore::forget(const Object& object) {
  const std::lock_guard lock(mutex_);
  objects_.erase(object.id().generation);
  used_ -= whole_pages(object.bytes().size());
}

}  // namespace rt::detail
