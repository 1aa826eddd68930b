#pragma once
// Bell: how a process that has written into a ring wakes the one that reads it. One a receiving process, in memory that
// all its peers map.
//
// The receiver needs no waking (it is looking, or will when it wants something: ringing costs one load), sleeps on the
// bell itself (a futex: the cheapest wake), or is away (its event loop waits on an eventfd for it). It says so before
// it looks at the rings for the last time; a peer writes first and looks at the bell afterwards; so no message is left
// lying.
//
// Danger: a peer can write into the bell, and so keep the receiver from being woken by others, but not for longer than
// `kLongestSleep`.

#include <atomic>
#include <chrono>
#include <cstdint>

#include "rt/runtime/net/shared_memory.h"

namespace rt {

struct BellFds {
  Fd memory, event;
};

// The peer's side.
class Bell {
 public:
  static constexpr std::size_t kBytes = 4096;
  enum State : std::uint32_t { Awake = 0, Asleep = 1, Away = 2 };

  // Refuses what is no bell.
  static Result<Bell> of(BellFds fds);

  // After a write: wakes the receiver unless it is awake. Was it?
  bool ring() const;
  // The same, but only where it is asleep on the bell: was it?
  bool ring_sleeper() const;
  // Wakes its event loop whatever it says, so that somebody looks at the rings soon.
  void ring_event_loop() const;

 protected:
  Bell(Mapping memory, Fd event) : memory_(std::move(memory)), event_(std::move(event)) {}
  std::atomic<std::uint32_t>& state() const { return *reinterpret_cast<std::atomic<std::uint32_t>*>(memory_.data()); }

  Mapping memory_;
  Fd event_;
};

// The receiver's side; it may ring itself too. Thread: what changes the state is called by one thread at a time.
class OwnBell : public Bell {
 public:
  static constexpr std::chrono::milliseconds kLongestSleep{1000};

  static Result<OwnBell> make();
  Result<BellFds> fds_for_peer() const;
  int event_fd() const { return event_.get(); }

  // No store where nothing changes: the peers keep the line in their caches.
  void set(State to) {
    if (state().load(std::memory_order_relaxed) != to) state().store(to, std::memory_order_seq_cst);
  }
  bool is(State one) const { return state().load(std::memory_order_seq_cst) == one; }
  // Sleeps until it is rung, or the limit; only after set(Asleep) and a last look at the rings. Awake afterwards.
  void sleep(std::chrono::nanoseconds limit);
  void clear_event();

 private:
  OwnBell(Mapping memory, Fd event, Fd memory_fd)
      : Bell(std::move(memory), std::move(event)), memory_fd_(std::move(memory_fd)) {}
  Fd memory_fd_;
};

}  // namespace rt
