#pragma once
// Future<R>: the result of a call under way.
//
// Every future ends: with its value, with the exception that the method threw, or with what happened to its actor.
// Threads: any; a copy shares the same result. `then` runs on the process's I/O thread: keep it short, never block
// there.

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "rt/runtime/base/result.h"
#include "rt/runtime/wire/codec.h"

namespace rt {

class RingPoller;
class Waiter;

namespace detail {

// The encoded result of one call; completed once. Who waits for it reads the process's rings itself.
class CallState {
 public:
  explicit CallState(RingPoller& poller, void* context = nullptr) : poller_(poller), context_(context) {}
  void complete(Result<std::string> result);
  const Result<std::string>& wait();
  bool wait_for(std::chrono::milliseconds limit);  // is it complete?
  void then(std::function<void()> continuation);   // at once where it is complete
  const Result<std::string>& value() const { return *value_; }
  void* context() const { return context_; }

 private:
  bool wait_until(std::chrono::steady_clock::time_point until);

  RingPoller& poller_;
  void* const context_;
  std::atomic<bool> is_complete_{false};
  std::mutex mutex_;  // guards all below; what is complete changes no more
  std::optional<Result<std::string>> value_;
  std::vector<Waiter*> waiters_;
  std::vector<std::function<void()>> continuations_;
};

}  // namespace detail

template <class R>
class Future {
 public:
  explicit Future(std::shared_ptr<detail::CallState> state) : state_(std::move(state)) {}

  // Waits. Throws rt::Exception: Failed (the method threw), MaybeRan or NotSent (its actor died), Corrupt.
  R get() const { return result().get(); }
  Result<R> result() const {
    state_->wait();
    return decoded();
  }

  // Code::Deadline when the result isn't there in time; the call goes on.
  Result<R> result(std::chrono::milliseconds limit) const {
    if (!state_->wait_for(limit))
      return Error{Code::Deadline, "no result within " + std::to_string(limit.count()) + " ms"};
    return decoded();
  }

  bool ready() const { return state_->wait_for(std::chrono::milliseconds(0)); }

  void then(std::function<void(Result<R>)> use) const {
    state_->then([state = state_, use = std::move(use)] { use(Future(state).decoded()); });
  }

 private:
  Result<R> decoded() const {
    const Result<std::string>& bytes = state_->value();
    if (!bytes) return bytes.error();
    try {
      if constexpr (std::is_same_v<R, Unit>)
        return Unit{};
      else {
        Decoder from(*bytes, state_->context());
        return decode<R>(from);
      }
    } catch (const Exception& e) {
      return e.error();
    }
  }

  std::shared_ptr<detail::CallState> state_;
};

}  // namespace rt
