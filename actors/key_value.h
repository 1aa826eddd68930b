#pragma once
// KeyValue: the head's key-value space as an actor sees it: small values by which the members of a gang find each
// other. Keys live as long as the gang's lease; they aren't journalled.
//
// Owner: the process's connection to its node agent. Threads: any number at once; each call blocks its caller only,
// never the connection. Every call ends by its deadline with Code::Deadline.

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rt/runtime/base/result.h"

namespace rt {

class KeyValue {
 public:
  virtual ~KeyValue() = default;

  virtual Status set(std::string_view key, std::string_view value) = 0;

  // Waits until the key is there.
  virtual Result<std::string> get(std::string_view key, std::chrono::milliseconds deadline) = 0;

  // Waits until all keys are there.
  virtual Status wait(const std::vector<std::string>& keys, std::chrono::milliseconds deadline) = 0;

  // Adds to a decimal number (0 where the key isn't there) and returns the sum.
  virtual Result<std::int64_t> add(std::string_view key, std::int64_t amount) = 0;

  // Sets `desired` if the value is `expected`, or if the key isn't there and `expected` is empty. Returns the value
  // that stands afterwards (`expected` where the key isn't there and nothing was set).
  virtual Result<std::string> compare_set(std::string_view key, std::string_view expected,
                                          std::string_view desired) = 0;

  virtual Result<bool> check(const std::vector<std::string>& keys) = 0;  // are all keys there now?
  virtual Result<bool> remove(std::string_view key) = 0;                 // was it there?
};

}  // namespace rt
