#pragma once
// Futexes on words that processes share.

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>

namespace rt {

// Sleeps while the word is `expected`, at most for `limit`; may return early.
inline void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected, std::chrono::nanoseconds limit) {
  if (limit.count() <= 0) return;
  const timespec time{static_cast<time_t>(limit.count() / 1'000'000'000),
                      static_cast<long>(limit.count() % 1'000'000'000)};
  ::syscall(SYS_futex, &word, FUTEX_WAIT, expected, &time, nullptr, 0);
}

inline void futex_wake(std::atomic<std::uint32_t>& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

inline void futex_wake_all(std::atomic<std::uint32_t>& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
}

}  // namespace rt
