#include "rt/actors/watch.h"

#include <condition_variable>
#include <deque>
#include <mutex>

#include "rt/actors/watchers.h"

namespace rt {

struct Watch::State {
  static constexpr std::size_t kMost = 100;

  std::function<void(const ActorDeath&)> handler;
  std::mutex mutex;  // guards all below
  std::condition_variable told;
  std::deque<Result<ActorDeath>> notices;

  void take(const Result<ActorDeath>& notice) {
    if (handler && notice) return handler(*notice);
    const std::lock_guard lock(mutex);
    if (notices.size() == kMost) notices.erase(notices.begin() + 1);
    notices.push_back(notice);
    told.notify_all();
  }
};

Watch::Watch(detail::Client& client, ActorId actor, std::function<void(const ActorDeath&)> handler)
    : state_(std::make_shared<State>()) {
  state_->handler = std::move(handler);
  watcher_ = client.watch(actor, [state = state_](const Result<ActorDeath>& notice) { state->take(notice); });
}

Watch::Watch(Watch&&) noexcept = default;

Watch& Watch::operator=(Watch&& other) noexcept {
  std::swap(state_, other.state_);
  std::swap(watcher_, other.watcher_);
  return *this;
}

Watch::~Watch() {
  if (watcher_) watcher_->close();
}

Result<ActorDeath> Watch::next() { return next(std::chrono::hours(24 * 365)); }

Result<ActorDeath> Watch::next(std::chrono::milliseconds limit) {
  std::unique_lock lock(state_->mutex);
  if (!state_->told.wait_for(lock, limit, [this] { return !state_->notices.empty(); }))
    return Error{Code::Deadline, "the actor didn't die within " + std::to_string(limit.count()) + " ms"};
  Result<ActorDeath> notice = state_->notices.front();
  if (notice) state_->notices.pop_front();  // an error stays: nothing else will come
  return notice;
}

}  // namespace rt
