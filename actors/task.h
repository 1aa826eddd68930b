#pragma once
// Task<T>: a coroutine. An actor's method that returns one gives way to the actor's other calls while it waits:
//
//   rt::Task<int> total(std::vector<rt::Actor<Part>> parts) {
//     int sum = 0;
//     for (auto& part : parts) sum += co_await part.call<&Part::count>();
//     co_return sum;
//   }
//
// It begins when it is awaited, or called as a method, and runs on one thread: the actor's, or that of rt::wait(task).
// What it awaits: futures and other tasks. Where its call is cancelled, what it awaits throws Code::Cancelled. A task
// that is destroyed while it waits takes what it awaits along.

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

#include "rt/actors/executor.h"
#include "rt/actors/future.h"
#include "rt/actors/running_call.h"

namespace rt {

template <class T = void>
class Task;

namespace detail {

class TaskPromise {
 public:
  std::suspend_always initial_suspend() noexcept { return {}; }
  void unhandled_exception() { thrown_ = std::current_exception(); }

  struct Final {
    bool await_ready() noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> ended) noexcept {
      TaskPromise& promise = ended.promise();
      if (promise.continuation_) return promise.continuation_;
      if (promise.on_done_) promise.on_done_(promise.done_argument_);
      return std::noop_coroutine();
    }
    void await_resume() noexcept {}
  };
  Final final_suspend() noexcept { return {}; }

  void continue_with(std::coroutine_handle<> continuation) { continuation_ = continuation; }
  void call_when_done(void (*on_done)(void*), void* argument) {
    on_done_ = on_done;
    done_argument_ = argument;
  }
  void rethrow() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  std::coroutine_handle<> continuation_;
  void (*on_done_)(void*) = nullptr;
  void* done_argument_ = nullptr;
  std::exception_ptr thrown_;
};

template <class T>
struct ValuePromise : TaskPromise {
  template <class From>
  void return_value(From&& from) {
    value.emplace(std::forward<From>(from));
  }
  T take() {
    rethrow();
    return std::move(*value);
  }
  std::optional<T> value;
};
template <>
struct ValuePromise<void> : TaskPromise {
  void return_void() {}
  void take() { rethrow(); }
};

// A coroutine that waits for a call: resumed on its executor once that is complete, or its own call was cancelled.
class CallAwaiter : CallState::Listener, Executor::Job, Cancellable {
 public:
  explicit CallAwaiter(std::shared_ptr<CallState> state) : state_(std::move(state)) {}
  CallAwaiter(CallAwaiter&&) = delete;
  ~CallAwaiter();

  bool await_ready() const { return state_->is_complete(); }
  bool await_suspend(std::coroutine_handle<> handle);

 protected:
  void check() const;  // throws where the wait was cancelled
  std::shared_ptr<CallState> state_;

 private:
  void cancel() override;
  void probe(const Probe& probe) override;
  void resume();

  std::coroutine_handle<> handle_;
  Executor* executor_ = nullptr;
  RunningCall* call_ = nullptr;
  bool is_cancelled_ = false;
};

template <class R>
class FutureAwaiter : public CallAwaiter {
 public:
  using CallAwaiter::CallAwaiter;
  R await_resume() {
    check();
    return Future<R>(state_).get();
  }
};

// Runs the executor of this thread until `is_done`.
void run_until(const bool& is_done, RingPoller& poller, void (*start)(void*), void* argument);

}  // namespace detail

template <class R>
detail::FutureAwaiter<R> operator co_await(const Future<R>& future) {
  return detail::FutureAwaiter<R>(future.state());
}

template <class T>
class [[nodiscard]] Task {
 public:
  struct promise_type : detail::ValuePromise<T> {
    Task get_return_object() { return Task(std::coroutine_handle<promise_type>::from_promise(*this)); }
  };

  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    if (this != &other) {
      if (handle_) handle_.destroy();
      handle_ = std::exchange(other.handle_, nullptr);
    }
    return *this;
  }
  ~Task() {
    if (handle_) handle_.destroy();
  }

  // co_await task: begins it, and goes on when it has ended, with its value or what it threw.
  auto operator co_await() && {
    struct Awaiter {
      std::coroutine_handle<promise_type> handle;
      bool await_ready() const { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<> continuation) {
        handle.promise().continue_with(continuation);
        return handle;
      }
      T await_resume() { return handle.promise().take(); }
    };
    return Awaiter{handle_};
  }

  // --- inside the library: begins it; `on_done(argument)` is called when it has ended, and may destroy it
  void start(void (*on_done)(void*), void* argument) {
    handle_.promise().call_when_done(on_done, argument);
    handle_.resume();
  }
  T take() { return handle_.promise().take(); }

 private:
  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  std::coroutine_handle<promise_type> handle_;
};

namespace detail {

template <class T>
inline constexpr bool is_task = false;
template <class T>
inline constexpr bool is_task<Task<T>> = true;

template <class T>
struct ResultOf {
  using type = std::conditional_t<std::is_void_v<T>, Unit, std::decay_t<T>>;
};
template <class T>
struct ResultOf<Task<T>> : ResultOf<T> {};

}  // namespace detail
}  // namespace rt
