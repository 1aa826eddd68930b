#pragma once
// Watch: notices of an actor's deaths.
//
//   rt::Watch watch = rt::watch(counter);
//   rt::ActorDeath death = watch.next().get();   // waits
//   rt::Watch other = rt::watch(counter, [](const rt::ActorDeath& death) { ... });
//
// Each end of an incarnation is one notice, the last one with `will_restart` false. An actor that is dead already is
// told at once, as long as the head remembers it (the last thousand). Owner: who made it; it watches while it lives.
// Threads: any; a handler runs on the process's I/O thread, keep it short and never block there. Once the destructor
// has returned the handler doesn't run any more. Bounded: of notices that nobody takes the first is kept, and the
// last 99.

#include <functional>
#include <memory>
#include <optional>

#include "rt/actors/actor.h"

namespace rt {

class Watch {
 public:
  Watch(detail::Client& client, ActorId actor, std::function<void(const ActorDeath&)> handler);
  Watch(Watch&&) noexcept;
  Watch& operator=(Watch&&) noexcept;
  ~Watch();

  // The next notice; waits for it. Code::NotFound: there is no such actor, and the head remembers none. Code::Deadline.
  // Unavailable: the cluster is gone.
  Result<ActorDeath> next();
  Result<ActorDeath> next(std::chrono::milliseconds limit);

 private:
  struct State;
  std::shared_ptr<State> state_;
  std::shared_ptr<detail::Watcher> watcher_;
};

template <class T>
[[nodiscard]] Watch watch(const Actor<T>& actor, std::function<void(const ActorDeath&)> handler = nullptr) {
  return {actor.client(), actor.id(), std::move(handler)};
}

}  // namespace rt
