#pragma once
// For tests of the store: an agent's side, and stores as processes of the node would have them, in this process.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <numeric>

#include "rt/runtime/store/store.h"
#include "rt/runtime/store/sweeper.h"

namespace rt::testing {

class StoreTest : public ::testing::Test {
 protected:
  explicit StoreTest(std::uint64_t capacity = 16 << 20)
      : sweeper(store::Sweeper::make(capacity).get()), driver(enter(1)), actor(enter(2)) {}

  // As a process with that number, which needn't exist.
  std::shared_ptr<Store> enter(pid_t pid) {
    return Store::open(sweeper->path(), sweeper->enter(pid), /*node=*/0).get();
  }
  static Large put(Store& store, std::string_view bytes) { return store.put(bytes.data(), bytes.size()).get(); }
  // Bytes of which every word is another one.
  static std::string pattern(std::size_t size, std::uint64_t seed = 1) {
    std::string bytes(size, '\0');
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>((seed + i / 8) * 2654435761u >> (i % 8 * 4));
    return bytes;
  }
  bool is_empty() const { return sweeper->objects() == 0 && sweeper->used() == 0; }

  std::unique_ptr<store::Sweeper> sweeper;
  std::shared_ptr<Store> driver, actor;
};

}  // namespace rt::testing
