#pragma once
// Waiting for several calls at once. A waiting thread reads the process's rings itself, as with one.
//
//   auto ready = rt::wait_n(futures, 3, 200ms);     // indices of those that are complete: 3 of them, fewer at the
//   limit auto first = rt::wait_any(futures);             // the index of one, the lowest that is complete bool all =
//   rt::wait_all(futures, 5s);
//
// `futures`: any range of Future<R>. A limit that is over ends the wait, not the calls. Nothing to wait for is over at
// once: wait_any of an empty range throws Code::Invalid.

#include <chrono>
#include <optional>
#include <ranges>
#include <vector>

#include "rt/actors/future.h"

namespace rt {
namespace detail {

// Until `count` of them are complete, or the limit; how many are.
std::size_t wait_for_some(const std::vector<CallState*>& states, std::size_t count, std::chrono::milliseconds limit);

template <std::ranges::range Futures>
std::vector<CallState*> states_of(const Futures& futures) {
  std::vector<CallState*> states;
  for (const auto& future : futures) states.push_back(future.state().get());
  return states;
}

}  // namespace detail

inline constexpr std::chrono::milliseconds kNoLimit = std::chrono::milliseconds::max();

// In the range's order. More than `count` where more are complete.
template <std::ranges::range Futures>
std::vector<std::size_t> wait_n(const Futures& futures, std::size_t count, std::chrono::milliseconds limit = kNoLimit) {
  const auto states = detail::states_of(futures);
  detail::wait_for_some(states, count, limit);
  std::vector<std::size_t> ready;
  for (std::size_t i = 0; i < states.size(); ++i)
    if (states[i]->is_complete()) ready.push_back(i);
  return ready;
}

template <std::ranges::range Futures>
std::optional<std::size_t> wait_any(const Futures& futures, std::chrono::milliseconds limit = kNoLimit) {
  if (std::ranges::empty(futures)) throw Exception({Code::Invalid, "rt::wait_any: there is nothing to wait for"});
  const auto ready = wait_n(futures, 1, limit);
  return ready.empty() ? std::nullopt : std::optional(ready.front());
}

template <std::ranges::range Futures>
bool wait_all(const Futures& futures, std::chrono::milliseconds limit = kNoLimit) {
  const auto states = detail::states_of(futures);
  return detail::wait_for_some(states, states.size(), limit) == states.size();
}

}  // namespace rt
