#pragma once
// RunningCall: one call as its method sees it while it runs: was it cancelled, when must it end?
//
//   while (!rt::this_call().stop_token().stop_requested()) step();
//
// Owner: who runs the method. Threads: the method's own, and whoever cancels it.

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <stop_token>

namespace rt {
namespace detail {

// What a coroutine waits for, so that a cancellation reaches it there. On its executor only.
class Cancellable {
 public:
  virtual void cancel() = 0;

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
  void cancel();
  void reset();                              // for the next call
  detail::Cancellable* waits_for = nullptr;  // of a coroutine that is suspended
  static RunningCall*& current();            // of this thread; null: none

 private:
  std::atomic<bool> is_cancelled_{false};
  std::atomic<bool> has_source_{false};
  std::mutex mutex_;  // guards the source
  std::stop_source source_{std::nostopstate};
};

// The call that runs on this thread. Throws where none does.
RunningCall& this_call();

}  // namespace rt
