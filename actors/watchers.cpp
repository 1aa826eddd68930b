#include "rt/actors/watchers.h"

namespace rt::detail {

void Watcher::close() {
  const std::lock_guard lock(mutex_);
  has_ended_ = true;
}

void Watcher::tell(const Result<ActorDeath>& notice) {
  const std::lock_guard lock(mutex_);
  if (has_ended_ || (notice && last_ && notice->incarnation <= *last_)) return;
  if (notice) last_ = notice->incarnation;
  has_ended_ = !notice || !notice->will_restart;
  told_(notice);
}

std::shared_ptr<Watcher> Watchers::add(ActorId actor, Watcher::Told told) {
  auto watcher = std::make_shared<Watcher>(std::move(told));
  const std::lock_guard lock(mutex_);
  auto& all = watchers_[actor];
  std::erase_if(all, [](const auto& other) { return other.expired(); });
  all.push_back(watcher);
  return watcher;
}

void Watchers::tell(const ActorDeath& death) {
  std::vector<std::weak_ptr<Watcher>> told;
  {
    const std::lock_guard lock(mutex_);
    const auto it = watchers_.find(death.actor);
    if (it == watchers_.end()) return;
    told = it->second;
    if (!death.will_restart) watchers_.erase(it);
  }
  for (const auto& one : told)
    if (const auto watcher = one.lock()) watcher->tell(death);
}

void Watchers::tell_all(const Error& error) {
  decltype(watchers_) all;
  {
    const std::lock_guard lock(mutex_);
    all.swap(watchers_);
  }
  for (const auto& [actor, watchers] : all)
    for (const auto& one : watchers)
      if (const auto watcher = one.lock()) watcher->tell(error);
}

}  // namespace rt::detail
