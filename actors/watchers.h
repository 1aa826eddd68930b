#pragma once
// Watchers: who in this process is told of which actor's deaths.
//
// Owner: the client; a Watcher belongs to who watches, and may outlive the client. Threads: any; `told` runs on the
// thread that tells, one notice at a time.

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "rt/actors/client.h"

namespace rt::detail {

class Watcher {
 public:
  using Told = std::function<void(const Result<ActorDeath>&)>;
  explicit Watcher(Told told) : told_(std::move(told)) {}

  void close();  // `told` doesn't run after it, but where it is called from `told` itself
  void tell(const Result<ActorDeath>& notice);  // each incarnation's end once

 private:
  std::recursive_mutex mutex_;  // guards all below, while `told` runs too
  Told told_;
  std::optional<std::uint32_t> last_;  // incarnation that was told
  bool has_ended_ = false;
};

class Watchers {
 public:
  std::shared_ptr<Watcher> add(ActorId actor, Watcher::Told told);
  void tell(const ActorDeath& death);
  void tell_all(const Error& error);

 private:
  std::mutex mutex_;
  std::unordered_map<ActorId, std::vector<std::weak_ptr<Watcher>>> watchers_;
};

}  // namespace rt::detail
