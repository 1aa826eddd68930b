#pragma once
// EventQueue: what other threads tell the runner: answers of ranks, deaths, finished file work, signals.
//
// Owner: the runner, and whoever may still answer when it is gone: what is put then is never run. Threads: any puts,
// the runner's takes. What is put is a piece of work that runs on the runner's thread, so all of its state has one
// thread. Bounded by what the runner itself has under way: each piece of work answers one question of it, or tells one
// death.

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <utility>

namespace rt::tune {

class EventQueue {
 public:
  using Work = std::function<void()>;

  void put(Work work) {
    {
      const std::lock_guard lock(mutex_);
      work_.push_back(std::move(work));
    }
    arrived_.notify_one();
  }

  // All that is there, in order; waits at most `limit` for the first.
  std::deque<Work> take(std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    arrived_.wait_for(lock, limit, [this] { return !work_.empty(); });
    return std::exchange(work_, {});
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Work> work_;
};

}  // namespace rt::tune
