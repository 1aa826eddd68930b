#pragma once
// FilingThread: runs file work in order, beside the runner's loop, so that an fsync stops no other trial.
//
// Owner: the runner. The destructor finishes what was given and joins.

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace rt::tune {

class FilingThread {
 public:
  FilingThread() : thread_([this] { run(); }) {}
  ~FilingThread() {
    give(nullptr);
    thread_.join();
  }

  void give(std::function<void()> work) {
    {
      const std::lock_guard lock(mutex_);
      work_.push_back(std::move(work));
    }
    arrived_.notify_one();
  }

 private:
  void run() {
    while (true) {
      std::function<void()> next;
      {
        std::unique_lock lock(mutex_);
        arrived_.wait(lock, [this] { return !work_.empty(); });
        next = std::move(work_.front());
        work_.pop_front();
      }
      if (!next) return;
      next();
    }
  }

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<std::function<void()>> work_;
  std::thread thread_;  // last: it uses the members above
};

}  // namespace rt::tune
