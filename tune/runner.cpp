#include "rt/tune/runner.h"

#include "rt/runtime/base/crash_point.h"
#include "rt/tune/filing.h"
#include "rt/tune/record_kinds.h"

namespace rt::tune {

Runner::Runner(Tuner tuner, std::unique_ptr<Journal> journal, Cluster::Parts& cluster, TrialPlan plan, View view)
    : tuner_(std::move(tuner)),
      journal_(std::move(journal)),
      cluster_(cluster),
      plan_(std::move(plan)),
      view_(std::move(view)) {
  // On the I/O thread: they touch the queue only, which may outlive this.
  cluster_.client->on_death([this, queue = queue_](const ActorDeath& death) {
    queue->put([this, death] {
      const auto it = owner_of_actor_.find(death.actor);
      if (it != owner_of_actor_.end() && !death.will_restart) it->second->on_death(death);
    });
  });
  cluster_.client->on_agent_lost([this, queue = queue_] {
    queue->put([this] {
      failure_ = Error{Code::Unavailable, "this node's rtd is gone; all of the sweep's processes are ended"};
    });
  });
}

Runner::~Runner() {
  cluster_.client->on_death(nullptr);
  cluster_.client->on_agent_lost(nullptr);
  (void)queue_->take(std::chrono::milliseconds(0));  // released gangs, which share the queue that holds them
}

void Runner::interrupt() {
  queue_->put([this] { tell(StopRequested{}); });
}

// How many gangs the cluster holds at once.
int Runner::slots() const {
  const auto totals = cluster_.client->totals();
  if (!totals) return 1;
  int slots = 1 << 20;
  const auto limit = [&](std::uint32_t there, int each) {
    if (each > 0) slots = std::min(slots, static_cast<int>(there) / each / plan_.ranks);
  };
  limit(totals->cpus, plan_.cpus_per_rank);
  limit(totals->gpus, plan_.gpus_per_rank);
  return std::max(1, slots);
}

Status Runner::run(Outcome first) {
  carry_out(first);
  tell(SlotsChanged{slots()});
  auto last_tick = std::chrono::steady_clock::now();
  while (!finished_ && !failure_) {
    for (const EventQueue::Work& work : queue_->take(std::chrono::milliseconds(200))) {
      work();
      if (failure_) break;
    }
    const auto now = std::chrono::steady_clock::now();
    if (now - last_tick < std::chrono::milliseconds(500)) continue;
    last_tick = now;
    if (!failure_) carry_out(tuner_.tick(now));
    if (view_.on_tick) view_.on_tick(tuner_);
  }
  gangs_.clear();
  if (failure_) return *failure_;
  return journal_->sync();
}

void Runner::tell(const Event& event) {
  if (!failure_) carry_out(tuner_.handle(event, std::chrono::steady_clock::now()));
}

void Runner::carry_out(const Outcome& outcome) {
  if (const Status kept = keep(outcome.records); !kept) {
    failure_ = Error{kept.error().code, "the sweep's journal can't be written: " + kept.error().message};
    return;
  }
  for (const Command& command : outcome.commands) obey(command);
}

Status Runner::keep(const std::vector<Record>& records) {
  for (const Record& record : records) {
    [[maybe_unused]] const std::string kind(kind_of(record));
    RT_CRASH_POINT(("tune.before." + kind).c_str());
    RT_CHECK(journal_->append(encode(record)));
    RT_CRASH_POINT(("tune.after." + kind).c_str());
    if (view_.on_record) view_.on_record(record, tuner_);
  }
  return Unit{};
}

void Runner::obey(const Command& command) {
  struct Obey {
    Runner& self;
    void operator()(const RequestGang& c) {
      const GangTools tools{*self.cluster_.client,
                            self.queue_,
                            self.filing_,
                            [&runner = self](Event event) {
                              runner.queue_->put([&runner, event = std::move(event)] { runner.tell(event); });
                            },
                            [&runner = self](Error error) { runner.failure_ = std::move(error); },
                            [&runner = self](ActorId actor, Gang* gang) {
                              if (gang)
                                runner.owner_of_actor_[actor] = gang;
                              else
                                runner.owner_of_actor_.erase(actor);
                            }};
      auto& gang = self.gangs_[c.trial] = std::make_unique<Gang>(c.trial, self.plan_, tools);
      gang->request();
    }
    void operator()(const Launch& c) {
      const TrialState& trial = self.tuner_.history().trials().at(static_cast<std::size_t>(c.trial));
      std::vector<Checkpoint> held;
      for (const HeldCheckpoint& recorded : trial.held) held.push_back(recorded.checkpoint);
      self.gang(c.trial).launch(c, trial.parameters, trial.seed, held);
    }
    void operator()(const Step& c) { self.gang(c.trial).step(c.step); }
    void operator()(const Save& c) { self.gang(c.trial).save(c.step, c.name); }
    void operator()(const StopTrial& c) { self.gang(c.trial).stop(c.generation); }
    void operator()(const ReleaseGang& c) {
      // Destroyed later: this may run inside one of its own functions.
      self.gang(c.trial).release();
      self.queue_->put([&runner = self, gang = std::shared_ptr<Gang>(std::move(self.gangs_.at(c.trial)))] {
        std::erase_if(runner.owner_of_actor_, [&](const auto& entry) { return entry.second == gang.get(); });
      });
      self.gangs_.erase(c.trial);
    }
    void operator()(const DropCheckpoint& c) {
      const auto folder = self.plan_.directory / "trials" / trial_id(c.trial) / "checkpoints";
      self.filing_.give([folder, name = c.name] { (void)drop_checkpoint(folder, name); });  // a folder left is no harm
    }
    void operator()(const Finish&) { self.finished_ = true; }
  };
  std::visit(Obey{*this}, command);
}

}  // namespace rt::tune
