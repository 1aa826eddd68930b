#pragma once
// Tuner: drives a sweep. It is told what happened and says what is to be written and done next.
//
// Owner: the runner, one a sweep. Thread: the owner's. Pure: time comes in with each event; the same events give the
// same outcomes. Two kinds of state: the History, which the journal holds, and the gangs, which live as long as this
// run: after a crash they are gone, and `resume` asks for them again.
//
// Trials are created in the order of their index, when a slot may soon be free for them, and started in that order. A
// trainable is asked for one step at a time; a checkpoint is taken at each milestone of the scheduler, each
// `checkpoint.every` steps, and where the trial ends or the sweep is interrupted; only then its report is recorded.
// Steps between the last checkpoint and a crash are run again, and their reports, recorded already, aren't recorded
// twice: a decision once taken stands. A program runs on by itself; what it names as checkpoints are its checkpoints.
//
// Danger: an outcome's records must be in the journal before its commands are carried out. Every command that has an
// answer (events.h) must get one, else its trial waits for ever. A trial that is tried again keeps its gang.

#include <chrono>
#include <map>
#include <optional>
#include <span>

#include "rt/tune/events.h"
#include "rt/tune/history.h"

namespace rt::tune {

using TimePoint = std::chrono::steady_clock::time_point;

// Events that changed nothing, counted.
struct Ignored {
  std::int64_t stale = 0;     // of another generation, of a trial that has ended, or not asked for
  std::int64_t repeated = 0;  // a program's report of a step that it had reported before
  bool operator==(const Ignored&) const = default;
};

class Tuner {
 public:
  explicit Tuner(Sweep sweep);

  // The sweep's state from its journal. Corrupt: a record that can't be, or whose decision isn't what is decided now;
  // the message says which one.
  static Result<Tuner> replay(Sweep sweep, std::span<const Record> records);

  // The first outcome of a new sweep. SlotsChanged has to follow.
  Outcome start(SweepStarted started);

  // The first outcome after a replay; processes of the runs before must be dead. SlotsChanged has to follow.
  Outcome resume(Resumed resumed);

  Outcome handle(const Event& event, TimePoint now);

  // Time went on: programs that have used up stop.seconds are stopped. To be called about once a second.
  Outcome tick(TimePoint now);

  const History& history() const { return history_; }
  const Ignored& ignored() const { return ignored_; }
  bool is_running(TrialIndex trial) const;  // its processes are being launched, run or are being stopped
  std::size_t running() const;              // how many trials are
  int slots() const { return slots_.value_or(0); }

 private:
  enum class Phase { Requested, Launching, Running, Saving, Stopping };
  struct Gang {
    Phase phase = Phase::Requested;
    int generation = 0;
    std::int64_t done = 0;          // last step of a trainable that this generation has finished or restored
    bool is_stepping = false;       // a trainable's step done + 1 is under way
    std::optional<Reported> draft;  // while Saving: what will be recorded; nothing where the step is recorded
    TimePoint counted_until{};      // training time before this is in a record
  };

  void on(const SlotsChanged& event, TimePoint now);
  void on(const GangGranted& event, TimePoint now);
  void on(const LeaseRefused& event, TimePoint now);
  void on(const RanksReady& event, TimePoint now);
  void on(const Report& event, TimePoint now);
  void on(const Saved& event, TimePoint now);
  void on(const RankDied& event, TimePoint now);
  void on(const CheckpointLost& event, TimePoint now);
  void on(const TrialStopped& event, TimePoint now);
  void on(const StopRequested& event, TimePoint now);

  void on_step_done(Gang& gang, const Report& report, TimePoint now);
  void on_program_report(Gang& gang, const Report& report, TimePoint now);
  bool wants_save(const Reported& draft) const;
  Reported draft_of(const Gang& gang, const Report& report, TimePoint now) const;
  bool fail_without_metric(const Report& report);
  void keep_checkpoint(TrialIndex trial, int generation, std::int64_t step, const Checkpoint& checkpoint);
  void interrupt(std::string cause);
  void launch(TrialIndex trial, Gang& gang);

  void commit(Record record);
  void commit_report(Reported draft);
  void settle();  // writes the records that follow
  void pursue();  // gives the commands that follow
  void pursue(TrialIndex trial, Gang& gang);
  void fill_slots();
  std::optional<TrialIndex> next_to_request();
  Outcome finish_outcome();

  Gang* find(TrialIndex trial, int generation);  // null, and counted, where the event is stale
  const TrialState& state(TrialIndex trial) const { return history_.trials()[trial]; }
  bool is_program() const { return history_.sweep().trainable.empty(); }
  bool is_winding_down() const { return history_.is_interrupted() || history_.ended().has_value(); }

  History history_;
  std::map<TrialIndex, Gang> gangs_;
  std::optional<int> slots_;
  bool is_finished_ = false;
  Ignored ignored_;
  Outcome outcome_;
};

// The folder of a trainable's checkpoint, below the trial's checkpoints: "step-00000009".
std::string checkpoint_name(std::int64_t step);

}  // namespace rt::tune
