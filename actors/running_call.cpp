#include "rt/actors/running_call.h"

#include "rt/actors/executor.h"
#include "rt/runtime/base/result.h"

namespace rt {

detail::Executor*& detail::Executor::current() {
  static thread_local Executor* current = nullptr;
  return current;
}

RunningCall*& RunningCall::current() {
  static thread_local RunningCall* current = nullptr;
  return current;
}

std::stop_token RunningCall::stop_token() {
  const std::lock_guard lock(mutex_);
  if (!has_source_.exchange(true)) source_ = std::stop_source();
  if (is_cancelled()) source_.request_stop();
  return source_.get_token();
}

void RunningCall::cancel() {
  std::stop_source source{std::nostopstate};
  {
    const std::lock_guard lock(mutex_);
    is_cancelled_.store(true, std::memory_order_release);
    if (has_source_) source = source_;
  }
  source.request_stop();  // its callbacks may ask again
}

void RunningCall::reset() {
  is_cancelled_.store(false, std::memory_order_relaxed);
  if (!has_source_.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(mutex_);
  has_source_ = false;
  source_ = std::stop_source(std::nostopstate);
}

RunningCall& this_call() {
  RunningCall* const call = RunningCall::current();
  if (!call) throw Exception({Code::Invalid, "rt::this_call(): no call runs on this thread"});
  return *call;
}

}  // namespace rt
