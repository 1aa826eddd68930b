#pragma once
// Self: what an actor's own code asks about itself, and does as itself.
//
//   rt::self().logger().info("begins");
//   while (!rt::self().stop_token().stop_requested()) step();
//
// Threads: any of the actor's process, from the start of its constructor on. In a process that is no actor's,
// rt::self() throws.

#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "rt/actors/spawner.h"

namespace rt {

class Self;
namespace detail {
struct WorkerContext;
std::shared_ptr<Self> make_self(WorkerContext& context);
}  // namespace detail

// Lines in the actor's own log, with time, pid and name: "2026-01-31 12:00:00.123 [4711 counter] info: begins".
class Logger {
 public:
  void debug(std::string_view message) const;
  void info(std::string_view message) const;
  void warning(std::string_view message) const;
  void error(std::string_view message) const;
};

class Self : public Spawner {
 public:
  ActorId id() const;
  std::uint32_t incarnation() const;  // 1, and one more with each restart
  std::string_view name() const;      // empty: it has none
  std::string_view name_space() const;
  std::uint32_t node() const;
  std::span<const std::string> gpus() const;  // UUIDs, also in CUDA_VISIBLE_DEVICES
  std::span<const int> cpuset() const;        // cores it is pinned to; empty: none in particular
  std::uint32_t threads() const;              // it may use; 0: nobody said
  const Logger& logger() const;

  // Requested when somebody asks this actor to stop: `kill` with a deadline, or its supervisor. Its methods may look at
  // it and return early. Callbacks run on the process's I/O thread: keep them short.
  std::stop_token stop_token() const;

  // This actor ends once this method has returned and is answered: it is destroyed, its process tree ends, and it isn't
  // restarted. Calls that it hadn't begun fail, but a few may still run. Returns at once.
  void leave();

  // A handle to this actor, to be passed to others.
  template <class T>
  Actor<T> handle() const {
    return {client_, id()};
  }

 private:
  friend std::shared_ptr<Self> detail::make_self(detail::WorkerContext& context);
  using Spawner::Spawner;
};

Self& self();

}  // namespace rt
