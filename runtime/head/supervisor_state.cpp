#include "rt/runtime/head/supervisor_state.h"

#include <algorithm>
#include <utility>

namespace rt {

void SupervisorState::add(Child child, HeadTime now) { children_.push_back({.child = child, .since = now}); }

void SupervisorState::forget(Child child) {
  std::erase_if(children_, [child](const Entry& entry) { return entry.child == child; });
}

void SupervisorState::keep(Child child) {
  if (Entry* entry = find(child)) entry->state = State::Runs;
}

SupervisorState::Verdict SupervisorState::died(Child child, const Failure& how, HeadTime now) {
  Entry* const dead = find(child);
  if (!dead || gave_up_) return {.gave_up = true};
  if (std::exchange(dead->state, State::Waits) != State::Runs) return {};
  if (in_loop_ == 0 || now - dead->since > policy_.max_delay) {
    in_loop_ = 0;
    first_ = how;
  }
  if (!may_restart(now)) {
    gave_up_ = true;
    return {.gave_up = true};
  }
  ++in_loop_;
  dead->at = now + delay();
  Verdict verdict;
  for (auto sibling = children_.rbegin(); sibling != children_.rend(); ++sibling) {
    if (!is_affected(*sibling, dead)) continue;
    sibling->at = std::max(sibling->at, dead->at);
    if (sibling->state != State::Runs) continue;
    sibling->state = State::Stops;
    verdict.stop.push_back(sibling->child);
  }
  return verdict;
}

bool SupervisorState::may_restart(HeadTime now) {
  if (policy_.window > HeadTime{0})
    while (!restarts_.empty() && now - restarts_.front() >= policy_.window) restarts_.pop_front();
  if (restarts_.size() >= policy_.most) return false;
  restarts_.push_back(now);
  return true;
}

HeadTime SupervisorState::delay() const {
  if (in_loop_ < 2) return HeadTime{0};
  HeadTime delay = std::min(policy_.delay, policy_.max_delay);
  for (std::uint32_t n = 2; n < in_loop_ && delay > HeadTime{0} && delay < policy_.max_delay; ++n)
    delay = delay > policy_.max_delay / 2 ? policy_.max_delay : delay * 2;
  return delay;
}

bool SupervisorState::is_affected(const Entry& sibling, const Entry* dead) const {
  if (&sibling == dead || strategy_ == Strategy::OneForOne) return false;
  return strategy_ == Strategy::OneForAll || &sibling > dead;
}

std::vector<SupervisorState::Child> SupervisorState::start_due(HeadTime now) {
  std::vector<Child> due;
  if (!next_start()) return due;
  for (Entry& entry : children_) {
    if (entry.state != State::Waits) continue;
    if (entry.at > now && strategy_ != Strategy::OneForOne) break;  // who comes later may need this one
    if (entry.at > now) continue;
    entry.state = State::Runs;
    entry.since = now;
    due.push_back(entry.child);
  }
  return due;
}

std::optional<HeadTime> SupervisorState::next_start() const {
  std::optional<HeadTime> next;
  for (const Entry& entry : children_) {
    if (gave_up_ || entry.state == State::Stops) return std::nullopt;
    if (entry.state != State::Waits) continue;
    const bool is_first = !next;
    if (is_first || (strategy_ == Strategy::OneForOne && entry.at < *next)) next = entry.at;
  }
  return next;
}

std::vector<SupervisorState::Child> SupervisorState::children() const {
  std::vector<Child> all;
  for (const Entry& entry : children_) all.push_back(entry.child);
  return all;
}

SupervisorState::Entry* SupervisorState::find(Child child) {
  const auto it =
      std::find_if(children_.begin(), children_.end(), [child](const Entry& entry) { return entry.child == child; });
  return it == children_.end() ? nullptr : &*it;
}

}  // namespace rt
