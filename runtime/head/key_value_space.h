#pragma once
// KeyValueSpace: the head's small values by which gangs meet. Not journalled: a head's restart means a new generation.
//
// Owner: the head. Pure. A `get` that waits is an entry here, never a blocked connection. Bounded: `max_bytes` in all,
// then `set` is refused. Keys below a prefix go when their lease ends (`remove_prefix`).

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "rt/runtime/base/result.h"

namespace rt {

class KeyValueSpace {
 public:
  struct Waiter {
    std::uint32_t node = 0;
    std::uint64_t client = 0;
    std::uint64_t request = 0;
    auto operator<=>(const Waiter&) const = default;
  };
  struct Answer {
    Waiter to;
    std::string value;  // of the first key it waited for
  };

  explicit KeyValueSpace(std::size_t max_bytes = std::size_t{256} << 20) : max_bytes_(max_bytes) {}

  // Each change returns the waiters that it satisfied.
  Result<std::vector<Answer>> set(const std::string& key, std::string value);
  Result<std::int64_t> add(const std::string& key, std::int64_t amount, std::vector<Answer>& answers);
  Result<std::string> compare_set(const std::string& key, const std::string& expected, const std::string& desired,
                                  std::vector<Answer>& answers);

  // The answer now, or nothing: it is remembered and comes with a later change.
  std::vector<Answer> get(const Waiter& waiter, std::vector<std::string> keys);
  void cancel(const Waiter& waiter) { waiters_.erase(waiter); }
  void forget_client(std::uint32_t node, std::uint64_t client);
  void forget_node(std::uint32_t node);  // all of its clients

  bool check(const std::vector<std::string>& keys) const;
  bool remove(const std::string& key);
  void remove_prefix(const std::string& prefix);
  std::size_t waiting() const { return waiters_.size(); }

 private:
  std::vector<Answer> satisfied();

  const std::size_t max_bytes_;
  std::size_t bytes_ = 0;
  std::map<std::string, std::string> values_;
  std::map<Waiter, std::vector<std::string>> waiters_;
};

}  // namespace rt
