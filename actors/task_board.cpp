#include "rt/actors/task_board.h"

#include <algorithm>

namespace rt::detail {

TaskBoard::Commands TaskBoard::want(const Want& want) {
  const auto parent = workers_.find(want.from_worker);
  wants_[{parent == workers_.end() ? 0 : parent->second.depth + 1, want.number}] = want;
  Commands commands;
  place(commands);
  return commands;
}

TaskBoard::Commands TaskBoard::leased(std::uint64_t lease, TaskShape shape) {
  --asked_[shape];
  free_slot(lease, shape);
  Commands commands;
  place(commands);
  return commands;
}

TaskBoard::Commands TaskBoard::refused(TaskShape shape, const Error& error) {
  --asked_[shape];
  Commands commands;
  std::erase_if(wants_, [&](const auto& entry) {
    if (entry.second.shape != shape) return false;
    commands.refusals.push_back({entry.second.number, error});
    return true;
  });
  return commands;
}

TaskBoard::Commands TaskBoard::finished(std::uint64_t number) {
  Commands commands;
  const auto it = workers_.find(number);
  if (it == workers_.end() || it->second.activity == Activity::Idle) return commands;
  const bool holds_gpus = it->second.shape.gpus > 0;
  lay_down(it->second, commands);
  if (holds_gpus) {
    commands.end.push_back(number);
    workers_.erase(it);
  }
  place(commands);
  return commands;
}

TaskBoard::Commands TaskBoard::died(std::uint64_t number) {
  Commands commands;
  const auto it = workers_.find(number);
  if (it == workers_.end()) return commands;
  lay_down(it->second, commands);
  workers_.erase(it);
  place(commands);
  return commands;
}

// What it had is free again. GPUs go back to the head with their process.
void TaskBoard::lay_down(Worker& worker, Commands& commands) {
  const auto self =
      std::find_if(workers_.begin(), workers_.end(), [&](auto& entry) { return &entry.second == &worker; });
  std::erase(owed_[worker.shape], self->first);
  if (worker.lease != 0 && worker.shape.gpus > 0)
    commands.release.push_back(worker.lease);
  else if (worker.lease != 0)
    free_slot(worker.lease, worker.shape);
  worker.lease = 0;
  worker.caller = 0;
  worker.activity = Activity::Idle;
  worker.was_idle = false;
}

// A task with GPUs lends nothing: what holds a GPU keeps it.
TaskBoard::Commands TaskBoard::waits(std::uint64_t number) {
  Commands commands;
  const auto it = workers_.find(number);
  if (it == workers_.end() || it->second.activity != Activity::Running || it->second.shape.gpus > 0) return commands;
  Worker& worker = it->second;
  worker.activity = Activity::Waiting;
  std::erase(owed_[worker.shape], number);
  if (const std::uint64_t lease = std::exchange(worker.lease, 0)) free_slot(lease, worker.shape);
  place(commands);
  return commands;
}

TaskBoard::Commands TaskBoard::goes_on(std::uint64_t number) {
  Commands commands;
  const auto it = workers_.find(number);
  if (it == workers_.end() || it->second.activity != Activity::Waiting) return commands;
  Worker& worker = it->second;
  worker.activity = Activity::Running;
  auto& free = free_[worker.shape];
  if (free.empty()) {
    owed_[worker.shape].push_back(number);
  } else {
    worker.lease = free.back().lease;
    free.pop_back();
  }
  return commands;
}

TaskBoard::Commands TaskBoard::caller_died(std::uint64_t caller) {
  std::erase_if(wants_, [&](const auto& entry) { return entry.second.caller == caller; });
  Commands commands;
  for (const auto& [number, worker] : workers_)
    if (worker.caller == caller && worker.activity != Activity::Idle) commands.end.push_back(number);
  return commands;
}

TaskBoard::Commands TaskBoard::tick() {
  Commands commands;
  for (auto& [shape, slots] : free_)
    std::erase_if(slots, [&](Free& slot) {
      if (!std::exchange(slot.was_idle, true)) return false;
      commands.release.push_back(slot.lease);
      return true;
    });
  for (auto it = workers_.begin(); it != workers_.end();) {
    const bool is_over = it->second.activity == Activity::Idle && std::exchange(it->second.was_idle, true);
    if (is_over) commands.end.push_back(it->first);
    it = is_over ? workers_.erase(it) : std::next(it);
  }
  return commands;
}

bool TaskBoard::is_anything_idle() const {
  const auto is_idle = [](const auto& entry) { return entry.second.activity == Activity::Idle; };
  const auto has_slots = [](const auto& entry) { return !entry.second.empty(); };
  return std::any_of(workers_.begin(), workers_.end(), is_idle) || std::any_of(free_.begin(), free_.end(), has_slots);
}

// Who runs without a slot gets it first.
void TaskBoard::free_slot(std::uint64_t lease, TaskShape shape) {
  auto& owed = owed_[shape];
  if (owed.empty()) return free_[shape].push_back({lease});
  workers_.at(owed.front()).lease = lease;
  owed.erase(owed.begin());
}

std::uint64_t TaskBoard::idle_worker() const {
  const auto it = std::find_if(workers_.begin(), workers_.end(), [](const auto& entry) {
    return entry.second.activity == Activity::Idle && entry.second.shape.gpus == 0;
  });
  return it == workers_.end() ? 0 : it->first;
}

void TaskBoard::place(Commands& commands) {
  std::map<TaskShape, int> lacking;
  for (auto it = wants_.begin(); it != wants_.end();) {
    if (free_[it->second.shape].empty()) {
      ++lacking[it->second.shape];
    } else if (place_one(it->second, it->first.first, commands)) {
      it = wants_.erase(it);
      continue;
    }
    ++it;
  }
  for (const auto& [shape, count] : lacking)
    for (int& asked = asked_[shape]; asked < std::min(count, kMostAsked); ++asked) commands.ask.push_back(shape);
  refuse_where_stuck(commands);
}

bool TaskBoard::place_one(const Want& want, std::uint32_t depth, Commands& commands) {
  std::uint64_t worker = want.shape.gpus > 0 ? 0 : idle_worker();
  if (worker == 0 && workers_.size() >= kMostWorkers) return false;
  const std::uint64_t lease = free_[want.shape].back().lease;
  free_[want.shape].pop_back();
  if (worker == 0) {
    worker = ++last_worker_;
    commands.start.push_back({worker, want.shape.gpus > 0 ? lease : 0});
  }
  workers_[worker] = {
      .activity = Activity::Running, .caller = want.caller, .lease = lease, .shape = want.shape, .depth = depth};
  commands.grants.push_back({want.number, worker});
  return true;
}

// All processes that there may be wait for tasks that none is left to run.
void TaskBoard::refuse_where_stuck(Commands& commands) {
  if (wants_.empty() || workers_.size() < kMostWorkers) return;
  for (const auto& [number, worker] : workers_)
    if (worker.activity != Activity::Waiting) return;
  const Error stuck{Code::Unavailable, std::to_string(kMostWorkers) +
                                           " tasks wait for tasks that they started, and no further process is "
                                           "started for one: start fewer tasks within tasks"};
  for (const auto& [order, want] : wants_) commands.refusals.push_back({want.number, stuck});
  wants_.clear();
}

}  // namespace rt::detail
