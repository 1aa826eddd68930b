#pragma once
// CallGroup: what runs an actor's methods beside each other. CallThreads: on threads; inline/fibers.h: without any.
//
// Owner: Serving. What is pushed is begun in order. Threads: any may push. The destructor waits for the methods under
// way; what hasn't begun is dropped.

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

class CallGroup {
 public:
  using Run = std::function<void(const Mailbox::Letter&, CallSlot&)>;

  virtual ~CallGroup() = default;
  virtual void push(Mailbox::Letter letter) = 0;
  // A call that hasn't begun; it won't.
  virtual std::optional<Mailbox::Letter> take_out(const Transport* caller, std::uint64_t sequence) = 0;
  virtual bool cancel(const Transport* caller, std::uint64_t sequence) = 0;        // false: it doesn't run here
  virtual void look(const std::function<void(const RunningCall&)>& at) const = 0;  // at each place for a call
};

class CallThreads final : public CallGroup {
 public:
  // `threads`: at least 1. `run` runs on them.
  CallThreads(std::uint32_t threads, Run run);
  ~CallThreads() override;
  CallThreads(const CallThreads&) = delete;
  CallThreads& operator=(const CallThreads&) = delete;

  void push(Mailbox::Letter letter) override;
  std::optional<Mailbox::Letter> take_out(const Transport* caller, std::uint64_t sequence) override;
  bool cancel(const Transport* caller, std::uint64_t sequence) override;
  void look(const std::function<void(const RunningCall&)>& at) const override;
  std::size_t threads() const { return threads_.size(); }

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
