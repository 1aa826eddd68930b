#include "rt/actors/future.h"

namespace rt::detail {

void CallState::complete(Result<std::string> result) {
  std::vector<std::function<void()>> continuations;
  {
    const std::lock_guard lock(mutex_);
    if (value_) return;
    value_ = std::move(result);
    continuations.swap(continuations_);
  }
  changed_.notify_all();
  for (const auto& run : continuations) run();
}

const Result<std::string>& CallState::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return value_.has_value(); });
  return *value_;
}

bool CallState::wait_for(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, limit, [this] { return value_.has_value(); });
}

void CallState::then(std::function<void()> continuation) {
  {
    const std::lock_guard lock(mutex_);
    if (!value_) {
      continuations_.push_back(std::move(continuation));
      return;
    }
  }
  continuation();
}

}  // namespace rt::detail
