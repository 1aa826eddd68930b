#pragma once
// BatchedSync: asks for what was written to be put on the disk, once per interval and only when something was written.
//
// Owner: who writes. It has one thread of its own, started by `start` and joined by the destructor, which makes a last
// sync where one is due. `note_write` and `take_error` are called on the owner's thread; `sync` runs on the other.
// A sync that failed is tried again after the next interval; its error is kept for `take_error`.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "rt/runtime/base/result.h"

namespace rt {

class BatchedSync {
 public:
  BatchedSync(std::chrono::milliseconds interval, std::function<Status()> sync);
  ~BatchedSync();

  void start();

  // Something was written; it is synced within the interval. Takes a lock only for the first write of an interval,
  // and never while a sync is under way.
  void note_write();

  // The last failure since the last call.
  std::optional<Error> take_error();

 private:
  void run(std::stop_token stop);
  void flush();

  const std::chrono::milliseconds interval_;
  const std::function<Status()> sync_;
  std::atomic<bool> is_due_ = false;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::optional<Error> error_;
  std::jthread thread_;
};

}  // namespace rt
