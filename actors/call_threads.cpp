#include "rt/actors/call_threads.h"

#include <algorithm>

namespace rt::detail {

CallThreads::CallThreads(std::uint32_t threads, Run run) : run_(std::move(run)) {
  for (std::uint32_t i = 0; i < threads; ++i) slots_.push_back(std::make_unique<CallSlot>());
  for (const auto& slot : slots_) threads_.emplace_back([this, &slot = *slot] { work(slot); });
}

CallThreads::~CallThreads() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
    letters_.clear();
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void CallThreads::push(Mailbox::Letter letter) {
  {
    const std::lock_guard lock(mutex_);
    letters_.push_back(std::move(letter));
  }
  changed_.notify_one();
}

std::optional<Mailbox::Letter> CallThreads::take_out(const Transport* caller, std::uint64_t sequence) {
  const std::lock_guard lock(mutex_);
  const auto it = std::find_if(letters_.begin(), letters_.end(), [&](const Mailbox::Letter& letter) {
    return letter.from.get() == caller && letter.header.sequence == sequence;
  });
  if (it == letters_.end()) return std::nullopt;
  Mailbox::Letter letter = std::move(*it);
  letters_.erase(it);
  return letter;
}

bool CallThreads::cancel(const Transport* caller, std::uint64_t sequence) {
  return std::any_of(slots_.begin(), slots_.end(), [&](const auto& slot) { return slot->cancel(caller, sequence); });
}

void CallThreads::look(const std::function<void(const RunningCall&)>& at) const {
  for (const auto& slot : slots_) at(slot->call());
}

void CallThreads::work(CallSlot& slot) {
  const WaitWatch::Scope watched(slot.waits());
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return is_over_ || !letters_.empty(); });
    if (is_over_) return;
    const Mailbox::Letter letter = std::move(letters_.front());
    letters_.pop_front();
    lock.unlock();
    run_(letter, slot);
    lock.lock();
  }
}

}  // namespace rt::detail
