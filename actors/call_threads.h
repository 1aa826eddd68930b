#pragma once
// CallThreads: threads of an actor that run its methods beside each other. What is pushed is begun in order.
//
// Owner: Serving. Threads: any may push. The destructor waits for the methods under way; what hasn't begun is dropped.

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "rt/actors/call_slot.h"
#include "rt/actors/mailbox.h"

namespace rt::detail {

class CallThreads {
 public:
  using Run = std::function<void(const Mailbox::Letter&, CallSlot&)>;

  // `threads`: at least 1. `run` runs on them.
  CallThreads(std::uint32_t threads, Run run);
  ~CallThreads();
  CallThreads(const CallThreads&) = delete;
  CallThreads& operator=(const CallThreads&) = delete;

  void push(Mailbox::Letter letter);
  // A call that hasn't begun; it won't.
  std::optional<Mailbox::Letter> take_out(const Transport* caller, std::uint64_t sequence);
  bool cancel(const Transport* caller, std::uint64_t sequence);  // false: it doesn't run here
  const std::vector<std::unique_ptr<CallSlot>>& slots() const { return slots_; }

 private:
  void work(CallSlot& slot);

  const Run run_;
  std::vector<std::unique_ptr<CallSlot>> slots_;  // one a thread
  std::mutex mutex_;                              // guards the two below
  std::deque<Mailbox::Letter> letters_;
  bool is_over_ = false;
  std::condition_variable changed_;
  std::vector<std::thread> threads_;
};

}  // namespace rt::detail
