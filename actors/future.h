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
#include <optional>
#include <string>

#include "rt/actors/thrown.h"
#include "rt/runtime/base/bytes.h"
#include "rt/runtime/base/result.h"
#include "rt/runtime/wire/codec.h"

namespace rt {

class RingPoller;

namespace detail {

struct Probe;

// Takes what a call yields before it is complete. On the thread that reads.
class ItemSink {
 public:
  virtual ~ItemSink() = default;
  virtual void take(std::string_view item) = 0;
};

// The encoded result of one call; completed once, a second time changes nothing. Who waits for it reads the process's
// rings itself.
class CallState {
 public:
  // Something that is to happen when the call is complete. `fire` is its last use: it may be gone afterwards.
  struct Listener {
    Listener* next = nullptr;
    void (*fire)(Listener& self) = nullptr;
  };

  // Who sent it, and can say more to its actor.
  class Sender {
   public:
    virtual void cancel(CallState& state) = 0;
    virtual void grant(CallState& state, std::uint32_t items) = 0;  // it may yield so many more
    virtual void probe(CallState& state, Probe probe) = 0;          // somebody waits for it (wait_watch.h)

   protected:
    ~Sender() = default;
  };

  explicit CallState(RingPoller& poller, void* context = nullptr, Sender* sender = nullptr,
                     std::shared_ptr<ItemSink> sink = nullptr)
      : poller_(poller), context_(context), sender_(sender), sink_(std::move(sink)) {}
  CallState(const CallState&) = delete;
  CallState& operator=(const CallState&) = delete;

  void complete(std::string_view result, Attachments objects = {});
  void fail(Error error, std::string_view thrown = {});  // `thrown`: of Code::Failed, an encoded Thrown

  bool is_complete() const { return listeners_.load(std::memory_order_acquire) == kComplete; }
  bool is_awaited() const { return !is_complete() && listeners_.load(std::memory_order_relaxed) != 0; }
  void wait();
  bool wait_for(std::chrono::milliseconds limit);  // is it complete?
  void then(std::function<void()> continuation);   // at once where it is complete
  bool listen(Listener& listener);                 // false: it is complete, and the listener isn't fired
  bool forget(Listener& listener);                 // false: it is being fired, or was

  // Where it was sent: its sender's, under its lock.
  struct Route {
    std::uint64_t actor = 0, sequence = 0;
  } route;

  // Of a complete one.
  bool has_failed() const { return error_.has_value(); }
  const Error& error() const { return *error_; }
  std::string_view bytes() const { return value_.view(); }
  const Attachments& objects() const { return objects_; }  // that the bytes refer to
  Result<std::string> value() const { return error_ ? Result<std::string>(*error_) : std::string(bytes()); }
  void* context() const { return context_; }
  void cancel() {
    if (sender_ && !is_complete()) sender_->cancel(*this);
  }
  void grant(std::uint32_t items) {
    if (sender_ && !is_complete()) sender_->grant(*this, items);
  }
  void probe(const Probe& probe);
  void give_up(Error error);                      // it ends so, whatever its actor does
  ItemSink* sink() const { return sink_.get(); }  // null: it yields nothing
  RingPoller& poller() const { return poller_; }

 private:
  // The head of the listeners' list; or kComplete. Its lowest bit is a lock: somebody unlinks one.
  static constexpr std::uintptr_t kComplete = 2, kLocked = 1;
  bool wait_until(std::chrono::steady_clock::time_point until);
  bool claim() { return !is_claimed_.exchange(true, std::memory_order_acq_rel); }
  void fire();

  RingPoller& poller_;
  void* const context_;
  Sender* const sender_;
  const std::shared_ptr<ItemSink> sink_;
  std::atomic<bool> is_claimed_{false};
  std::atomic<std::uintptr_t> listeners_{0};
  Bytes value_;
  Attachments objects_;
  std::optional<Error> error_;
};

}  // namespace detail

template <class R>
class Future {
 public:
  using Value = R;
  explicit Future(std::shared_ptr<detail::CallState> state) : state_(std::move(state)) {}

  // Waits. Throws rt::CallFailed where the method threw, else rt::Exception: MaybeRan or NotSent (its actor died),
  // Deadline, Cancelled, Unavailable (its queue is full), Corrupt.
  R get() const {
    state_->wait();
    if (state_->has_failed()) throw_failure();
    return decoded();
  }
  Result<R> result() const {
    state_->wait();
    return settled();
  }

  // Code::Deadline when the result isn't there in time; the call goes on.
  Result<R> result(std::chrono::milliseconds limit) const {
    if (!state_->wait_for(limit))
      return Error{Code::Deadline, "no result within " + std::to_string(limit.count()) + " ms"};
    return settled();
  }

  bool ready() const { return state_->wait_for(std::chrono::milliseconds(0)); }

  // Asks the actor to give up: a call that hasn't begun doesn't run, a coroutine stops where it waits, a method that
  // looks at its stop token returns early. The future ends as ever: with Code::Cancelled, or with what the method
  // returned or threw all the same.
  void cancel() const { state_->cancel(); }

  const std::shared_ptr<detail::CallState>& state() const { return state_; }  // inside the library

  void then(std::function<void(Result<R>)> use) const {
    state_->then([state = state_, use = std::move(use)] { use(Future(state).settled()); });
  }

 private:
  [[noreturn]] void throw_failure() const {
    if (state_->error().code != Code::Failed || state_->bytes().empty()) throw Exception(state_->error());
    Decoder from(state_->bytes());
    throw CallFailed(decode<Thrown>(from));
  }
  R decoded() const {
    if constexpr (std::is_same_v<R, Unit>) {
      return Unit{};
    } else {
      Decoder from(state_->bytes(), state_->context(), &state_->objects());
      return decode<R>(from);
    }
  }
  Result<R> settled() const {
    try {
      if (state_->has_failed()) throw_failure();
      return decoded();
    } catch (const Exception& e) {
      return e.error();
    }
  }

  std::shared_ptr<detail::CallState> state_;
};

}  // namespace rt
