#include "rt/actors/watch.h"

#include <deque>
#include <list>
#include <mutex>

#include "rt/actors/watchers.h"
#include "rt/runtime/net/ring_poller.h"

namespace rt {

struct Watch::State {
  static constexpr std::size_t kMost = 100;

  explicit State(RingPoller& of) : poller(of) {}
  RingPoller& poller;
  std::function<void(const ActorDeath&)> handler;
  std::mutex mutex;  // guards all below
  std::deque<Result<ActorDeath>> notices;
  std::list<std::shared_ptr<Waiter>> waiting;

  void take(const Result<ActorDeath>& notice) {
    if (handler && notice) return handler(*notice);
    const std::lock_guard lock(mutex);
    if (notices.size() == kMost) notices.erase(notices.begin() + 1);
    notices.push_back(notice);
    for (const auto& waiter : std::exchange(waiting, {})) poller.complete(*waiter);
  }

  // A notice that is there; else `waiter` is told of the next one.
  std::optional<Result<ActorDeath>> take_next(const std::shared_ptr<Waiter>& waiter) {
    const std::lock_guard lock(mutex);
    if (notices.empty()) {
      waiting.push_back(waiter);
      return std::nullopt;
    }
    Result<ActorDeath> notice = notices.front();
    if (notice) notices.pop_front();  // an error stays: nothing else will come
    return notice;
  }

  std::optional<Result<ActorDeath>> next(TimePoint until) {
    while (true) {
      const auto waiter = std::make_shared<Waiter>();
      if (auto notice = take_next(waiter)) return notice;
      if (poller.wait(*waiter, until)) continue;
      const std::lock_guard lock(mutex);
      waiting.remove(waiter);
      return std::nullopt;
    }
  }
};

Watch::Watch(detail::Client& client, ActorId actor, std::function<void(const ActorDeath&)> handler)
    : state_(std::make_shared<State>(client.poller())) {
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

Result<ActorDeath> Watch::next() {
  try {
    while (true)
      if (auto notice = state_->next(TimePoint::max())) return *notice;
  } catch (const Exception& e) {  // it can never come
    return e.error();
  }
}

Result<ActorDeath> Watch::next(std::chrono::milliseconds limit) {
  if (auto notice = state_->next(SystemClock().now() + limit)) return *notice;
  return Error{Code::Deadline, "the actor didn't die within " + std::to_string(limit.count()) + " ms"};
}

}  // namespace rt
