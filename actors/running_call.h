#pragma once
// RunningCall: one call as its method sees it while it runs: was it cancelled, when must it end?
//
//   while (!rt::this_call().stop_token().stop_requested()) step();
//
// Owner: who runs the method. Threads: the method's own, and whoever cancels it.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stop_token>

namespace rt {
namespace detail {

struct Probe;

// What a coroutine waits for, so that a cancellation reaches it there. On its executor only.
class Cancellable {
 public:
  virtual void cancel() = 0;
  virtual void probe(const Probe& probe) = 0;  // somebody waits for this one (wait_watch.h)

 protected:
  ~Cancellable() = default;
};

}  // namespace detail

class RunningCall {
 public:
  // Requested when the caller has cancelled the call, or its deadline has passed.
  std::stop_token stop_token();
  bool is_cancelled() const { return is_cancelled_.load(std::memory_order_acquire); }

  // --- inside the library
  void begin(std::uint64_t of);  // a method's hash: it runs from now on
  std::uint64_t method() const { return method_.load(std::memory_order_acquire); }  // 0: none runs
  std::chrono::nanoseconds runs_for() const;  // to the kernel's tick, a few milliseconds
  void cancel();
  void reset();                              // for the next call
  detail::Cancellable* waits_for = nullptr;  // of a coroutine that is suspended
  static RunningCall*& current();            // of this thread; null: none

 private:
  std::atomic<bool> is_cancelled_{false};
  std::atomic<bool> has_source_{false};
  std::atomic<std::uint64_t> method_{0};
  std::atomic<std::int64_t> since_{0};  // by the clock that is cheap to read
  std::mutex mutex_;                    // guards the source
  std::stop_source source_{std::nostopstate};
};

// The call that runs on this thread. Throws where none does.
RunningCall& this_call();

}  // namespace rt
