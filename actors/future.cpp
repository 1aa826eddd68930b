#include "rt/actors/future.h"

#include <algorithm>
#include <boost/asio/post.hpp>

#include "rt/runtime/net/ring_poller.h"

namespace rt::detail {
namespace {

constexpr TimePoint kNever = TimePoint::max();

// The end of the wait, without overflow where the limit is as long as a number can say.
TimePoint after(std::chrono::milliseconds limit) {
  const TimePoint now = SystemClock().now();
  return limit < kNever - now ? now + limit : kNever;
}

}  // namespace

void CallState::complete(Result<std::string> result) {
  std::vector<std::function<void()>> continuations;
  {
    const std::lock_guard lock(mutex_);
    if (is_complete_) return;
    value_ = std::move(result);
    is_complete_.store(true, std::memory_order_release);
    continuations.swap(continuations_);
    for (Waiter* waiter : waiters_) poller_.complete(*waiter);
    waiters_.clear();
  }
  for (auto& run : continuations) {
    if (poller_.io().stopped())
      run();  // the process is leaving the cluster; there is no other thread any more
    else
      boost::asio::post(poller_.io(), std::move(run));
  }
}

const Result<std::string>& CallState::wait() {
  wait_until(kNever);
  return *value_;
}

bool CallState::wait_for(std::chrono::milliseconds limit) {
  if (is_complete_.load(std::memory_order_acquire)) return true;
  return wait_until(after(limit));
}

bool CallState::wait_until(TimePoint until) {
  if (is_complete_.load(std::memory_order_acquire)) return true;
  Waiter waiter;
  {
    const std::lock_guard lock(mutex_);
    if (is_complete_) return true;
    waiters_.push_back(&waiter);
  }
  poller_.wait(waiter, until);
  const std::lock_guard lock(mutex_);  // whoever completes it has let go of the waiter
  std::erase(waiters_, &waiter);
  return is_complete_;
}

void CallState::then(std::function<void()> continuation) {
  {
    const std::lock_guard lock(mutex_);
    if (!is_complete_) {
      continuations_.push_back(std::move(continuation));
      return;
    }
  }
  continuation();
}

}  // namespace rt::detail
