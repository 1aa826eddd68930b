#include "rt/runtime/base/batched_sync.h"

namespace rt {

BatchedSync::BatchedSync(std::chrono::milliseconds interval, std::function<Status()> sync)
    : interval_(interval), sync_(std::move(sync)) {}

BatchedSync::~BatchedSync() {
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
  }
  flush();
}

void BatchedSync::start() {
  thread_ = std::jthread([this](std::stop_token stop) { run(std::move(stop)); });
}

void BatchedSync::note_write() {
  if (is_due_.exchange(true)) return;
  const std::lock_guard lock(mutex_);
  changed_.notify_one();
}

std::optional<Error> BatchedSync::take_error() {
  const std::lock_guard lock(mutex_);
  return std::exchange(error_, std::nullopt);
}

void BatchedSync::run(std::stop_token stop) {
  while (!stop.stop_requested()) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, stop, [this] { return is_due_.load(); });
      changed_.wait_for(lock, stop, interval_, [] { return false; });
    }
    flush();
  }
}

void BatchedSync::flush() {
  if (!is_due_.exchange(false)) return;
  const Status synced = sync_();
  if (synced) return;
  const std::lock_guard lock(mutex_);
  error_ = synced.error();
  is_due_ = true;
}

}  // namespace rt
