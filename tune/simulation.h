#pragma once
// Simulation: the runner, the ranks and the disk of a sweep in memory, for the tests of the tuner. It carries out what
// the tuner asks for, can be killed at any record of the journal and started again, and checks on the way what a real
// cluster would suffer from: a gang launched without a lease or twice, a step out of order, a checkpoint that isn't
// there, something left when the sweep has finished.
//
// Pure: time goes on by one second an event; the order of events of different trials is drawn from a seed.

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "rt/tune/tuner.h"

namespace rt::tune {

struct Scenario {
  Sweep sweep;
  int slots = 1;
  std::function<double(const TrialState&, std::int64_t step)> curve;  // of the sweep's metric
  // Does rank 0 die in this step, which it reaches for the `time`-th time (from 1, over all generations)?
  std::function<bool(TrialIndex, std::int64_t step, int time)> dies;
  bool repeats_answers = false;             // every Report and Saved arrives twice
  std::vector<std::int64_t> program_steps;  // that a program reports before it ends by itself
  std::int64_t program_saves_every = 0;     // it names a checkpoint with these steps; 0: never
  int program_lead = 1;                     // reports a program makes before the first is answered
  std::optional<unsigned> shuffle;          // seed of the order in which trials' events arrive; nothing: in turn
};

struct Kill {
  enum class Moment {
    AtRecord,       // right when the record is in the journal: its outcome's later records and commands are lost
    AfterCommands,  // with its outcome's commands done as well
    BeforeNext,     // when the next record would be written: all that happened in between is lost
  };
  std::size_t records = 0;  // in the journal at that moment
  Moment moment = Moment::AtRecord;
};

class Simulation {
 public:
  explicit Simulation(Scenario scenario) : scenario_(std::move(scenario)) {}

  // Runs, from the journal if there is one, until the sweep has finished (true) or everything is killed (false).
  bool run(std::optional<Kill> kill = std::nullopt);

  // The user's Ctrl-C after so many more events, once.
  void interrupt_after(int events) { interrupt_after_ = events; }

  const std::vector<Record>& journal() const { return journal_; }
  const History& history() const { return tuner_->history(); }
  const Tuner& tuner() const { return *tuner_; }
  const std::map<std::pair<TrialIndex, std::string>, std::int64_t>& disk() const { return disk_; }
  const std::vector<std::string>& errors() const { return errors_; }  // what a cluster would have suffered from
  int events() const { return events_; }

 private:
  struct Process {
    int generation = 0;
    std::int64_t step = 0;
  };
  struct Killed {};

  void begin();
  void carry_out(const Outcome& outcome);
  void append(const Record& record);
  Event take_event();
  void after(const Event& event);

  void execute(const RequestGang& command);
  void execute(const Launch& command);
  void execute(const Step& command);
  void execute(const Save& command);
  void execute(const StopTrial& command);
  void execute(const ReleaseGang& command);
  void execute(const DropCheckpoint& command);
  void execute(const Finish& command);

  void grant();
  void run_program(TrialIndex trial);
  bool dies_now(TrialIndex trial, const Process& process);
  Metrics metrics_of(TrialIndex trial, std::int64_t step) const;
  void answer(const Event& event);
  void expect(bool holds, const std::string& what);

  Scenario scenario_;
  std::vector<Record> journal_;
  std::map<std::pair<TrialIndex, std::string>, std::int64_t> disk_;  // checkpoint -> its step
  std::map<std::pair<TrialIndex, std::int64_t>, int> reached_;       // (trial, step) -> how often
  std::vector<std::string> errors_;

  std::optional<Tuner> tuner_;
  std::optional<Kill> kill_;
  std::deque<Event> events_under_way_;
  std::deque<TrialIndex> waiting_;
  std::set<TrialIndex> granted_;
  std::map<TrialIndex, Process> processes_;
  bool is_finished_ = false;
  int events_ = 0;
  std::optional<int> interrupt_after_;
  std::mt19937_64 random_;
  TimePoint now_{};
};

// What must be the same however often a sweep was killed: every recorded step with its value, verdict and checkpoint,
// and the end of each trial, in the order of the journal.
std::vector<std::string> decisions(const std::vector<Record>& journal);

}  // namespace rt::tune
