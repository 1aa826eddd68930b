#pragma once
// For tests of an actor's calls from end to end inside one process: Peers on one side, Serving on a thread of its own
// on the other.
#include "rt/actors/serving.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <thread>

#include "rt/actors/actor.h"
#include "rt/actors/io_thread.h"
#include "rt/actors/peers.h"
#include "rt/actors/wait.h"
#include "rt/runtime/base/temporary_folder.h"

namespace rt::serving_test {

using namespace std::chrono_literals;
using detail::CallState;

// A door that a method waits at until the test opens it.
class Gate {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    is_open_ = true;
    changed_.notify_all();
  }
  void close() {
    const std::lock_guard lock(mutex_);
    is_open_ = false;
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return is_open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_open_ = false;
};

struct Custom : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Other {
  int touch() { return 1; }
  Task<int> wait() { co_return 1; }
};

class Thing {
 public:
  int add(int by) { return n_ += by; }
  void fail() { throw Custom("it can't"); }
  void fail_oddly() { throw 7; }
  int wait_at_gate() {
    gate.wait();
    return n_;
  }
  bool wait_for_cancel() {
    const std::stop_token token = this_call().stop_token();
    Gate asked;
    const std::stop_callback tell(token, [&] { asked.open(); });
    begun.open();
    asked.wait();
    return token.stop_requested();
  }
  int wait_in_group() { return wait_at_gate(); }
  std::uint64_t thread() { return std::hash<std::thread::id>()(std::this_thread::get_id()); }
  std::uint64_t thread_in_group() { return thread(); }
  Task<std::uint64_t> thread_of_coroutine() { co_return thread(); }
  Task<int> plus_one(int value) { co_return value + 1; }
  Task<void> nothing() { co_return; }
  Task<int> throws() {
    throw Custom("in a coroutine");
    co_return 0;
  }
  // Waits for a call that the test answers.
  Task<int> twice_the_inner(int add) {
    const std::string by_reference(1000, 'x');
    co_return 2 * co_await inner() + add + (by_reference.size() == 1000 ? 0 : 1);
  }
  // Yields 0, 1, ... up to `count`, and says how far it came and that its frame went.
  Stream<int> counts(int count) {
    struct Guard {
      ~Guard() { gate.open(); }
    } const guard;
    for (yielded = 0; yielded < count; ++yielded) co_yield int(yielded);
  }
  int how_many() { return yielded; }
  Stream<std::string> words_then_throws() {
    co_yield "one";
    co_yield std::to_string(co_await inner());
    throw Custom("no third");
  }
  static inline std::atomic<int> yielded{0};
  Task<int> nested(int add) { co_return co_await twice_the_inner(add) + 1000; }

  static Future<int> inner() { return Future<int>(inner_state); }
  static inline std::shared_ptr<CallState> inner_state;
  static inline Gate gate, begun;

 private:
  int n_ = 0;
};

}  // namespace rt::serving_test

template <>
inline constexpr std::string_view rt::thread_group<&rt::serving_test::Thing::wait_in_group> = "io";
template <>
inline constexpr std::string_view rt::thread_group<&rt::serving_test::Thing::thread_in_group> = "io";

namespace rt::serving_test {

inline constexpr ActorId kActor = 7;

inline std::string encoded(int value) {
  Encoder to;
  encode(to, value);
  return to.take();
}

class ServingTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Thing::gate.close();
    Thing::begun.close();
    Thing::inner_state = std::make_shared<CallState>(callee.poller());
    ASSERT_TRUE(mailbox.open(folder.path() / "actor"));
    serving.open({.object = std::make_shared<Thing>(),
                  .of = detail::class_hash<Thing>(),
                  .place = {.actor = "thing", .node = 3, .pid = 4711},
                  .threads = threads(),
                  .groups = {{"io", 2}}});
    server = std::thread([this] {
      try {
        serving.serve();
      } catch (const End&) {
      }
    });
    peers.on_started(kActor, 1, folder.path() / "actor");
  }
  // The last call throws the thread out of its loop.
  void TearDown() override {
    end.run = [](detail::Executor::Job&) { throw End(); };
    mailbox.post(end);
    server.join();
    Thing::inner_state = nullptr;
    caller.stop();
    callee.stop();
  }

  template <auto M, class... Args>
  auto call(Args... args) {
    return call_within<M>(0ns, args...);
  }
  template <auto M, class... Args>
  auto stream(Args... args) {
    using Method = detail::Method<M>;
    Encoder to;
    encode(to, typename Method::Traits::Arguments(args...));
    auto items = detail::StreamInlet::make_items();
    auto call = peers.call(kActor, Method::name, to.bytes(), {.sink = items});
    return typename Method::Traits::Returned(std::make_unique<detail::StreamInlet>(std::move(call), items));
  }
  template <auto M, class... Args>
  auto call_within(std::chrono::nanoseconds deadline, Args... args) {
    using Method = detail::Method<M>;
    Encoder to;
    encode(to, typename Method::Traits::Arguments(args...));
    return Future<typename Method::Traits::Result>(peers.call(kActor, Method::name, to.bytes(), {deadline}));
  }

  virtual std::uint32_t threads() { return 1; }

  struct End {};
  const TemporaryFolder folder;
  detail::Executor::Job end;
  detail::IoThread callee, caller;
  detail::Mailbox mailbox{callee.io(), kActor, 1, {}};
  detail::Serving serving{mailbox};
  detail::Peers peers{caller.io(), nullptr, [](ActorId) {}};
  std::thread server;
};

}  // namespace rt::serving_test
