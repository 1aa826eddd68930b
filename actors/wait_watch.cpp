#include "rt/actors/wait_watch.h"

#include <algorithm>

#include "rt/actors/inspection.h"
#include "rt/runtime/net/ring_poller.h"

namespace rt::detail {
namespace {

constexpr std::chrono::milliseconds kSoon{5}, kSeldom{200};  // before the first probe, and between later ones
constexpr std::size_t kMostHops = 256;

thread_local WaitWatch* watch_of_thread = nullptr;

}  // namespace

WaitWatch* WaitWatch::current() { return watch_of_thread; }
WaitWatch::Scope::Scope(WaitWatch& watch) { watch_of_thread = &watch; }
WaitWatch::Scope::~Scope() { watch_of_thread = nullptr; }

bool WaitWatch::wait(RingPoller& poller, Waiter& waiter, TimePoint until, std::span<CallState* const> calls) {
  if (actor_ == 0) return poller.wait(waiter, until);  // one of several threads
  const SystemClock clock;
  if (poller.wait(waiter, std::min(until, clock.now() + kSoon))) return true;
  {
    const std::lock_guard lock(mutex_);
    ++number_;
    calls_ = calls;
  }
  for (auto pause = kSoon; !waiter.is_done() && clock.now() < until; pause = std::min(2 * pause, kSeldom)) {
    probe();
    poller.wait(waiter, std::min(until, clock.now() + pause));
  }
  const std::lock_guard lock(mutex_);
  calls_ = {};
  return waiter.is_done();
}

void WaitWatch::probe() {
  const std::lock_guard lock(mutex_);
  for (std::uint32_t i = 0; i < calls_.size(); ++i)
    calls_[i]->probe({.wait = number_, .call = i, .hops = {{actor_, words_, ""}}});
}

void WaitWatch::send_on(const Probe& probe) {
  const std::lock_guard lock(mutex_);
  if (calls_.empty() || probe.hops.empty() || probe.hops.size() > kMostHops) return;
  const std::uint64_t first = probe.hops.front().actor;
  if (first == actor_) {
    if (probe.wait == number_ && probe.call < calls_.size())
      calls_[probe.call]->give_up(
          {Code::Deadlock, "these wait for each other, and none could ever go on: " + in_words(probe)});
    return;
  }
  const bool was_here =
      std::any_of(probe.hops.begin(), probe.hops.end(), [&](const Probe::Hop& hop) { return hop.actor == actor_; });
  if (was_here || first < actor_) return;
  Probe further = probe;
  further.hops.push_back({actor_, words_, ""});
  for (CallState* const call : calls_) call->probe(further);
}

std::string WaitWatch::in_words(const Probe& probe) {
  std::string words;
  for (std::size_t i = 0; i < probe.hops.size(); ++i) {
    const auto& next = probe.hops[(i + 1) % probe.hops.size()];
    words += (i == 0 ? "actor '" + probe.hops[i].words + "' waits for" : ", which waits for") + " actor '" +
             next.words + "' (" + method_in_words(probe.hops[i].method) + ")";
  }
  return words;
}

}  // namespace rt::detail
