#include "rt/actors/future.h"

#include <algorithm>
#include <thread>

#include "rt/actors/blocking.h"
#include "rt/actors/wait.h"
#include "rt/actors/wait_watch.h"
#include "rt/runtime/net/ring_poller.h"

namespace rt::detail {
namespace {

constexpr TimePoint kNever = TimePoint::max();

// The end of the wait, without overflow where the limit is as long as a number can say.
TimePoint after(std::chrono::milliseconds limit) {
  const TimePoint now = SystemClock().now();
  return limit < std::chrono::duration_cast<std::chrono::milliseconds>(kNever - now) ? now + limit : kNever;
}

// Waits on the poller; where that throws, nothing of the stack that is left may be reached any more.
template <class Forget>
bool wait_on(RingPoller& poller, Waiter& waiter, TimePoint until, std::span<CallState* const> calls, Forget forget) {
  WaitWatch* const watch = calls.empty() || poller.takes_turns() ? nullptr : WaitWatch::current();
  try {
    return wait_and_tell(waiter, poller.takes_turns(), until, [&](TimePoint to) {
      return watch ? watch->wait(poller, waiter, to, calls) : poller.wait(waiter, to);
    });
  } catch (...) {
    forget();
    throw;
  }
}

// A thread that waits, on its own stack.
struct WaitingThread : CallState::Listener {
  explicit WaitingThread(RingPoller& of) : poller(of) {
    waiter.is_for_calls = true;
    fire = [](Listener& self) {
      auto& thread = static_cast<WaitingThread&>(self);
      thread.poller.complete(thread.waiter);
    };
  }
  RingPoller& poller;
  Waiter waiter;
};

// A thread that waits for some of several calls, on its own stack.
struct Countdown {
  Countdown(RingPoller& of, std::size_t count) : poller(of), left(count) { waiter.is_for_calls = true; }
  struct One : CallState::Listener {
    Countdown* of = nullptr;
  };
  void count() {
    if (left.fetch_sub(1) == 1) poller.complete(waiter);
    under_way.fetch_sub(1, std::memory_order_release);  // the last use
  }
  RingPoller& poller;
  std::atomic<std::size_t> left;          // until it is enough
  std::atomic<std::size_t> under_way{0};  // that are listened to
  Waiter waiter;
};

// Runs on the I/O thread, and has the rings read until then.
struct Continuation : CallState::Listener {
  Continuation(RingPoller& of, std::function<void()> to_run) : poller(of), run(std::move(to_run)) {
    fire = [](Listener& self) {
      const std::unique_ptr<Continuation> own(&static_cast<Continuation&>(self));
      own->poller.neglect();
      if (own->poller.io().stopped())
        own->run();  // the process is leaving the cluster; there is no other thread any more
      else
        own->poller.post(std::move(own->run));
    };
  }
  RingPoller& poller;
  std::function<void()> run;
};

}  // namespace

void CallState::complete(std::string_view result, Attachments objects) {
  if (!claim()) return;
  if (!objects.empty()) objects_ = std::move(objects);
  value_.append(result.data(), result.size());
  fire();
}

void CallState::fail(Error error, std::string_view thrown) {
  if (!claim()) return;
  error_ = std::move(error);
  value_.append(thrown.data(), thrown.size());
  fire();
}

void CallState::fire() {
  std::uintptr_t head = listeners_.load(std::memory_order_relaxed);
  while ((head & kLocked) || !listeners_.compare_exchange_weak(head, kComplete, std::memory_order_acq_rel)) {
    if (head & kLocked) std::this_thread::yield();
    head = listeners_.load(std::memory_order_relaxed);
  }
  Listener* in_order = nullptr;
  for (auto* listener = reinterpret_cast<Listener*>(head); listener;) {
    Listener* const next = std::exchange(listener->next, in_order);
    in_order = std::exchange(listener, next);
  }
  while (in_order) {
    Listener* const listener = std::exchange(in_order, in_order->next);
    listener->fire(*listener);
  }
}

void CallState::probe(const Probe& probe) {
  if (sender_ && !is_complete()) sender_->probe(*this, probe);
}

void CallState::give_up(Error error) {
  fail(std::move(error));
  if (sender_) sender_->cancel(*this);
}

bool CallState::listen(Listener& listener) {
  std::uintptr_t head = listeners_.load(std::memory_order_acquire);
  while (head != kComplete) {
    if (head & kLocked) {
      std::this_thread::yield();
      head = listeners_.load(std::memory_order_acquire);
      continue;
    }
    listener.next = reinterpret_cast<Listener*>(head);
    if (listeners_.compare_exchange_weak(head, reinterpret_cast<std::uintptr_t>(&listener), std::memory_order_acq_rel))
      return true;
  }
  return false;
}

bool CallState::forget(Listener& listener) {
  std::uintptr_t head = listeners_.load(std::memory_order_acquire);
  while ((head & kLocked) ||
         (head != kComplete && !listeners_.compare_exchange_weak(head, head | kLocked, std::memory_order_acq_rel))) {
    if (head & kLocked) std::this_thread::yield();
    head = listeners_.load(std::memory_order_acquire);
  }
  if (head == kComplete) return false;
  auto* first = reinterpret_cast<Listener*>(head);
  Listener** link = &first;
  while (*link && *link != &listener) link = &(*link)->next;
  const bool found = *link != nullptr;
  if (found) *link = listener.next;
  listeners_.store(reinterpret_cast<std::uintptr_t>(first), std::memory_order_release);
  return found;
}

void CallState::wait() {
  if (!is_complete()) wait_until(kNever);
}

bool CallState::wait_for(std::chrono::milliseconds limit) {
  if (is_complete()) return true;
  if (limit.count() <= 0) poller_.look();
  return wait_until(after(limit));
}

bool CallState::wait_until(TimePoint until) {
  WaitingThread thread(poller_);
  if (!listen(thread)) return true;
  CallState* const self = this;
  if (wait_on(poller_, thread.waiter, until, {&self, 1}, [&] { (void)forget(thread); })) return true;
  if (forget(thread)) return false;
  while (!thread.waiter.is_done()) std::this_thread::yield();  // whoever completes it has let go of this stack
  return true;
}

std::size_t wait_for_some(const std::vector<CallState*>& states, std::size_t count, std::chrono::milliseconds limit) {
  const auto complete = [&] {
    return static_cast<std::size_t>(
        std::count_if(states.begin(), states.end(), [](const CallState* state) { return state->is_complete(); }));
  };
  count = std::min(count, states.size());
  const std::size_t already = complete();
  if (already >= count) return already;
  Countdown countdown(states.front()->poller(), count);
  std::vector<Countdown::One> listeners(states.size());
  for (std::size_t i = 0; i < states.size(); ++i) {
    listeners[i].of = &countdown;
    listeners[i].fire = [](CallState::Listener& self) { static_cast<Countdown::One&>(self).of->count(); };
    countdown.under_way.fetch_add(1);
    if (!states[i]->listen(listeners[i])) countdown.count();
  }
  const auto forget = [&] {
    for (std::size_t i = 0; i < states.size(); ++i)
      if (states[i]->forget(listeners[i])) countdown.under_way.fetch_sub(1);
  };
  const bool needs_all = count == states.size();
  wait_on(countdown.poller, countdown.waiter, after(limit), needs_all ? states : std::vector<CallState*>(), forget);
  forget();
  while (countdown.under_way.load(std::memory_order_acquire) > 0) std::this_thread::yield();  // they are being fired
  return complete();
}

void CallState::then(std::function<void()> continuation) {
  if (is_complete()) return continuation();
  poller_.attend();
  auto listener = std::make_unique<Continuation>(poller_, std::move(continuation));
  if (listen(*listener)) return (void)listener.release();
  poller_.neglect();
  listener->run();
}

}  // namespace rt::detail
