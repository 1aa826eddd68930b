#include "rt/actors/running_call.h"

#include <algorithm>
#include <ctime>

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

namespace {

std::int64_t coarse_now() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

void RunningCall::begin(std::uint64_t of) {
  since_.store(coarse_now(), std::memory_order_relaxed);
  method_.store(of, std::memory_order_release);
}

std::chrono::nanoseconds RunningCall::runs_for() const {
  return std::chrono::nanoseconds(std::max<std::int64_t>(0, coarse_now() - since_.load(std::memory_order_relaxed)));
}

void RunningCall::reset() {
  method_.store(0, std::memory_order_relaxed);
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
