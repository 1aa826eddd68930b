#include "rt/runtime/net/bell.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "rt/runtime/net/futex.h"

namespace rt {

Result<Bell> Bell::of(BellFds fds) {
  RT_CHECK(check_shared_memory(fds.memory.get(), kBytes));
  RT_TRY(memory, map_shared(fds.memory.get(), 0, kBytes));
  // A write to what isn't an eventfd could block for ever.
  if (::fcntl(fds.event.get(), F_SETFL, O_NONBLOCK) != 0) return system_error("the peer's event descriptor", errno);
  return Bell(std::move(memory), std::move(fds.event));
}

bool Bell::ring() const {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  std::uint32_t seen = state().load(std::memory_order_relaxed);
  if (seen == Awake) return true;
  if (!state().compare_exchange_strong(seen, Awake)) return false;  // another one has just woken it
  if (seen == Asleep)
    futex_wake(state());
  else
    ring_event_loop();
  return false;
}

bool Bell::ring_sleeper() const {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  std::uint32_t seen = state().load(std::memory_order_relaxed);
  if (seen != Asleep || !state().compare_exchange_strong(seen, Awake)) return false;
  futex_wake(state());
  return true;
}

void Bell::ring_event_loop() const {
  const std::uint64_t one = 1;
  ssize_t rc;
  do rc = ::write(event_.get(), &one, sizeof one);
  while (rc < 0 && errno == EINTR);
}

Result<OwnBell> OwnBell::make() {
  RT_TRY(memory_fd, make_shared_memory("rt-bell", kBytes));
  RT_TRY(memory, map_shared(memory_fd.get(), 0, kBytes));
  Fd event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event) return system_error("cannot make an eventfd", errno);
  OwnBell bell(std::move(memory), std::move(event), std::move(memory_fd));
  bell.set(Away);
  return bell;
}

Result<BellFds> OwnBell::fds_for_peer() const {
  BellFds fds{Fd(::fcntl(memory_fd_.get(), F_DUPFD_CLOEXEC, 0)), Fd(::fcntl(event_.get(), F_DUPFD_CLOEXEC, 0))};
  if (!fds.memory || !fds.event) return system_error("cannot pass on the bell", errno);
  return fds;
}

void OwnBell::sleep(std::chrono::nanoseconds limit) {
  futex_wait(state(), Asleep, std::min<std::chrono::nanoseconds>(limit, kLongestSleep));
  set(Awake);
}

void OwnBell::clear_event() {
  std::uint64_t count;
  while (::read(event_.get(), &count, sizeof count) < 0 && errno == EINTR) {
  }
}

}  // namespace rt
