#include "rt/tune/simulation.h"

#include <fmt/format.h>

#include <algorithm>

namespace rt::tune {
namespace {

std::optional<TrialIndex> trial_of(const Event& event) {
  return std::visit(
      []<class T>(const T& fields) -> std::optional<TrialIndex> {
        if constexpr (requires { fields.trial; }) return fields.trial;
        return std::nullopt;
      },
      event);
}

}  // namespace

bool Simulation::run(std::optional<Kill> kill) {
  kill_ = kill;
  events_under_way_.clear();
  waiting_.clear();
  granted_.clear();
  processes_.clear();
  is_finished_ = false;
  random_.seed(scenario_.shuffle.value_or(0));
  try {
    begin();
    while (!is_finished_) {
      expect(!events_under_way_.empty(), "the sweep hangs: nothing is under way and it hasn't finished");
      if (events_under_way_.empty()) return false;
      const Event event = take_event();
      now_ += std::chrono::seconds(1);
      ++events_;
      carry_out(tuner_->handle(event, now_));
      after(event);
      if (interrupt_after_ && --*interrupt_after_ <= 0) {
        interrupt_after_.reset();
        carry_out(tuner_->handle(StopRequested{}, now_));
      }
    }
  } catch (const Killed&) {
    return false;
  }
  return true;
}

void Simulation::begin() {
  if (journal_.empty()) {
    tuner_.emplace(scenario_.sweep);
    carry_out(tuner_->start({.text = "simulated", .seed = scenario_.sweep.seed}));
  } else {
    auto replayed = Tuner::replay(scenario_.sweep, journal_);
    if (!replayed) expect(false, replayed.error().message);
    tuner_ = std::move(replayed).get();
    carry_out(tuner_->resume({.run_id = "again"}));
  }
  if (!is_finished_) carry_out(tuner_->handle(SlotsChanged{scenario_.slots}, now_));
}

void Simulation::carry_out(const Outcome& outcome) {
  for (const Record& record : outcome.records) append(record);
  for (const Command& command : outcome.commands) {
    std::visit([this](const auto& fields) { execute(fields); }, command);
  }
  const bool is_reached = kill_ && !outcome.records.empty() && journal_.size() == kill_->records;
  if (is_reached && kill_->moment == Kill::Moment::AfterCommands) throw Killed{};
}

void Simulation::append(const Record& record) {
  if (kill_ && kill_->moment != Kill::Moment::AtRecord && journal_.size() == kill_->records) throw Killed{};
  journal_.push_back(record);
  if (kill_ && kill_->moment == Kill::Moment::AtRecord && journal_.size() == kill_->records) throw Killed{};
}

// The oldest event of a trial drawn by chance: one trial's events keep their order.
Event Simulation::take_event() {
  auto chosen = events_under_way_.begin();
  if (scenario_.shuffle) {
    const auto drawn = events_under_way_.begin() + static_cast<std::ptrdiff_t>(random_() % events_under_way_.size());
    chosen = std::ranges::find_if(events_under_way_, [&](const Event& e) { return trial_of(e) == trial_of(*drawn); });
  }
  Event event = std::move(*chosen);
  events_under_way_.erase(chosen);
  return event;
}

void Simulation::after(const Event& event) {
  if (!scenario_.sweep.trainable.empty()) return;
  if (const auto* ready = std::get_if<RanksReady>(&event)) {
    for (int i = 0; i < scenario_.program_lead; ++i) run_program(ready->trial);
  }
  if (const auto* report = std::get_if<Report>(&event); report && !report->finished) run_program(report->trial);
}

void Simulation::execute(const RequestGang& command) {
  expect(!granted_.contains(command.trial), "a gang is requested twice");
  waiting_.push_back(command.trial);
  grant();
}

void Simulation::grant() {
  while (!waiting_.empty() && static_cast<int>(granted_.size()) < scenario_.slots) {
    granted_.insert(waiting_.front());
    events_under_way_.emplace_back(GangGranted{waiting_.front()});
    waiting_.pop_front();
  }
}

void Simulation::execute(const Launch& command) {
  expect(granted_.contains(command.trial), "a trial is launched without a gang");
  expect(!processes_.contains(command.trial), "a trial is launched while its older generation lives");
  if (!command.restore.empty()) {
    const auto found = disk_.find({command.trial, command.restore});
    expect(found != disk_.end() && found->second == command.restore_step, "a checkpoint to restore isn't there");
  }
  processes_[command.trial] = {command.generation, command.restore_step};
  events_under_way_.emplace_back(RanksReady{command.trial, command.generation});
}

bool Simulation::dies_now(TrialIndex trial, const Process& process) {
  const int time = ++reached_[{trial, process.step}];
  if (!scenario_.dies || !scenario_.dies(trial, process.step, time)) return false;
  events_under_way_.emplace_back(
      RankDied{.trial = trial, .generation = process.generation, .cause = "signal 11", .log_tail = "oh"});
  processes_.erase(trial);
  return true;
}

Metrics Simulation::metrics_of(TrialIndex trial, std::int64_t step) const {
  return {{"score", scenario_.curve(tuner_->history().trials()[trial], step)}};
}

void Simulation::answer(const Event& event) {
  events_under_way_.push_back(event);
  if (scenario_.repeats_answers) events_under_way_.push_back(event);
}

void Simulation::execute(const Step& command) {
  const auto found = processes_.find(command.trial);
  if (found == processes_.end()) return expect(false, "a step is asked of a trial that doesn't live");
  Process& process = found->second;
  expect(command.step == process.step + 1, "a step is asked for out of order");
  process.step = command.step;
  if (dies_now(command.trial, process)) return;
  answer(Report{.trial = command.trial,
                .generation = process.generation,
                .step = command.step,
                .metrics = metrics_of(command.trial, command.step)});
}

void Simulation::execute(const Save& command) {
  const Process& process = processes_.at(command.trial);
  expect(process.step == command.step, "a step is saved that the model isn't in");
  disk_[{command.trial, command.name}] = command.step;
  answer(Saved{command.trial, process.generation, command.step, {command.name, {{"model.bin", 8, 0x1234}}}});
}

void Simulation::run_program(TrialIndex trial) {
  const auto found = processes_.find(trial);
  if (found == processes_.end()) return;
  Process& process = found->second;
  const auto next = std::ranges::upper_bound(scenario_.program_steps, process.step);
  if (next == scenario_.program_steps.end()) {
    events_under_way_.emplace_back(Report{.trial = trial, .generation = process.generation, .finished = true});
    processes_.erase(found);
    return;
  }
  process.step = *next;
  if (dies_now(trial, process)) return;
  Report report{.trial = trial, .generation = process.generation, .step = *next, .metrics = metrics_of(trial, *next)};
  if (scenario_.program_saves_every > 0 && *next % scenario_.program_saves_every == 0) {
    report.checkpoint = Checkpoint{.name = fmt::format("mine-{}", *next)};
    disk_[{trial, report.checkpoint->name}] = *next;
  }
  answer(report);
}

void Simulation::execute(const StopTrial& command) {
  processes_.erase(command.trial);
  events_under_way_.emplace_back(TrialStopped{.trial = command.trial, .generation = command.generation});
}

void Simulation::execute(const ReleaseGang& command) {
  expect(!processes_.contains(command.trial), "a gang is released while its processes live");
  granted_.erase(command.trial);
  std::erase(waiting_, command.trial);
  grant();
}

void Simulation::execute(const DropCheckpoint& command) { disk_.erase({command.trial, command.name}); }

void Simulation::execute(const Finish&) {
  expect(!is_finished_, "the sweep finishes twice");
  expect(granted_.empty() && waiting_.empty() && processes_.empty(), "something is left when the sweep has finished");
  is_finished_ = true;
}

void Simulation::expect(bool holds, const std::string& what) {
  if (!holds) errors_.push_back(what);
}

std::vector<std::string> decisions(const std::vector<Record>& journal) {
  std::vector<std::string> lines;
  for (const Record& record : journal) {
    if (const auto* report = std::get_if<Reported>(&record)) {
      lines.push_back(fmt::format("{} step {} score {} {} [{}]", report->trial, report->step,
                                  report->metrics.at("score"), to_string(report->verdict),
                                  report->checkpoint ? report->checkpoint->name : ""));
    } else if (const auto* end = std::get_if<TrialEnded>(&record)) {
      lines.push_back(fmt::format("{} ended: {}", end->trial, to_string(end->reason)));
    } else if (const auto* end = std::get_if<SweepEnded>(&record)) {
      lines.push_back(fmt::format("sweep ended, best {}, {}", end->best.value_or(-1), end->cause));
    }
  }
  return lines;
}

}  // namespace rt::tune
