#pragma once
// Stream<T>: the results of one call, one after another. A method that returns one is a coroutine that yields them:
//
//   rt::Stream<Batch> batches(int count) {
//     for (int i = 0; i < count; ++i) co_yield co_await next_batch();
//   }
//
// and its caller reads them while they are made:
//
//   for (const Batch& batch : loader.call<&Loader::batches>(10)) learn(batch);
//   auto stream = loader.call<&Loader::batches>(10);                      // or, in a coroutine,
//   while (auto batch = co_await stream.next()) learn(*batch);
//
// Back-pressure: the method runs at most kStreamWindow items ahead of its reader, then it waits where it yields; other
// methods of its actor run meanwhile. A reader that is destroyed, cancelled or dead ends the method there: the yield
// throws Code::Cancelled. What the method throws, and the death of its actor, come after the items before it. A
// deadline is that of the whole stream. Streams aren't sent again to a restarted actor.
// Threads: one reader. Owner: the reader's; the method's frame is its actor's.

#include <coroutine>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "rt/actors/task.h"

namespace rt {

inline constexpr std::uint32_t kStreamWindow = 32;

namespace detail {

// Where a method's items go. On the actor's executor.
class StreamOutlet {
 public:
  virtual void put(std::string_view item) = 0;  // an encoded std::optional<T>; takes one of what the reader granted
  virtual bool may_put() const = 0;
  virtual void wait(std::coroutine_handle<> handle) = 0;  // resumed when it may, or was cancelled
  virtual void check() const = 0;                         // throws where it was cancelled

 protected:
  ~StreamOutlet() = default;
};

// The reader's end of a stream: its destruction cancels the call.
class StreamInlet {
 public:
  // Items that have come, and futures that wait for one. The call's too: it outlives the reader.
  class Items;
  static std::shared_ptr<ItemSink> make_items();

  StreamInlet(std::shared_ptr<CallState> call, std::shared_ptr<ItemSink> items);
  ~StreamInlet();
  StreamInlet(const StreamInlet&) = delete;
  StreamInlet& operator=(const StreamInlet&) = delete;
  std::shared_ptr<CallState> next();
  void cancel() { call_->cancel(); }

 private:
  std::shared_ptr<CallState> call_;
  std::shared_ptr<Items> items_;
};

}  // namespace detail

template <class T>
class [[nodiscard]] Stream {
 public:
  struct promise_type : detail::TaskPromise {
    Stream get_return_object() { return Stream(std::coroutine_handle<promise_type>::from_promise(*this)); }
    void return_void() {}
    auto yield_value(std::optional<T> item) {
      Encoder to;
      encode(to, item);
      outlet->check();
      outlet->put(to.bytes());
      struct Awaiter {
        detail::StreamOutlet& outlet;
        bool await_ready() const { return outlet.may_put(); }
        void await_suspend(std::coroutine_handle<> handle) { outlet.wait(handle); }
        void await_resume() { outlet.check(); }
      };
      return Awaiter{*outlet};
    }
    detail::StreamOutlet* outlet = nullptr;
  };

  Stream(Stream&& other) noexcept
      : making_(std::exchange(other.making_, nullptr)), reading_(std::move(other.reading_)) {}
  Stream& operator=(Stream&& other) noexcept {
    std::swap(making_, other.making_);
    std::swap(reading_, other.reading_);
    return *this;
  }
  ~Stream() {
    if (making_) making_.destroy();
  }

  // The next item, or nothing once the method has returned. Throws, as any future, what ended the stream instead.
  Future<std::optional<T>> next() { return Future<std::optional<T>>(inlet().next()); }

  void cancel() { inlet().cancel(); }

  class Iterator {
   public:
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    explicit Iterator(Stream& of) : of_(&of) { ++*this; }
    const T& operator*() const { return *item_; }
    Iterator& operator++() {
      item_ = of_->next().get();
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return !item_; }

   private:
    Stream* of_;
    std::optional<T> item_;
  };
  Iterator begin() { return Iterator(*this); }  // once: it waits for the first item
  std::default_sentinel_t end() const { return {}; }

  // --- inside the library: of a call
  explicit Stream(std::unique_ptr<detail::StreamInlet> reading) : reading_(std::move(reading)) {}
  // of a method: as a Task's
  void start(void (*on_done)(void*), void* argument) {
    making_.promise().call_when_done(on_done, argument);
    making_.resume();
  }
  void attach(detail::StreamOutlet& outlet) { making_.promise().outlet = &outlet; }
  void take() { making_.promise().rethrow(); }

 private:
  explicit Stream(std::coroutine_handle<promise_type> making) : making_(making) {}
  detail::StreamInlet& inlet() const {
    if (!reading_)
      throw Exception(
          {Code::Invalid, "this stream can't be read here: a call of the method that makes it returns one"});
    return *reading_;
  }

  std::coroutine_handle<promise_type> making_;  // one of the two
  std::unique_ptr<detail::StreamInlet> reading_;
};

namespace detail {

template <class T>
inline constexpr bool is_stream = false;
template <class T>
inline constexpr bool is_stream<Stream<T>> = true;

template <class T>
inline constexpr bool is_coroutine = is_task<T> || is_stream<T>;

template <class T>
struct ResultOf<Stream<T>> : ResultOf<void> {};

}  // namespace detail
}  // namespace rt
