#pragma once
// History: the state of a sweep as the fold of its journal's records. All that must survive a crash is here, and only
// `apply` and `report` change it, so a replay of the journal gives the same state.
//
// Owner: the Tuner, or whoever shows a finished sweep. Thread: the owner's. Pure: no clock, no file.
// Invariants: a trial ends once and nothing of it but CheckpointDropped follows; steps grow within a trial; the newest
// checkpoint of a trial and the best one of the sweep are dropped only where they are of no use.
// Danger: after an error the state is half changed: throw it away.

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "rt/tune/scheduler.h"
#include "rt/tune/searcher.h"
#include "rt/tune/sweep.h"
#include "rt/tune/trial.h"

namespace rt::tune {

// If this many trials have failed for good and no trial has made a report, the sweep goes no further: what is wrong
// then is the program or its command line, not the parameters, and the other trials would fail in the same way. One
// that never had a report has ended; one that had some, before it was resumed, is interrupted and can be resumed again.
inline constexpr int kHopelessTrials = 3;

class History {
 public:
  explicit History(Sweep sweep);

  // Corrupt: the record can't follow what came before, or what it decided isn't what is decided now.
  Status apply(const Record& record);

  // Applies a report whose verdict isn't known yet; the record to write is returned.
  Result<Reported> report(Reported draft);

  // A record that follows from those applied and isn't there yet: an end of a trial, a checkpoint to drop, the end of
  // the sweep. Nothing where all is settled. A crash may have cut it off, so a resumed sweep asks for it, too.
  std::optional<Record> owed();

  // The trial to be created next; nothing where the search has no more, or the sweep is about to end.
  std::optional<TrialCreated> next_trial() const;

  bool is_milestone(std::int64_t step) const;  // a step at which the scheduler may decide
  int rungs_reached(std::int64_t step) const { return scheduler_->rungs_reached(step); }

  const Sweep& sweep() const { return sweep_; }
  const std::optional<SweepStarted>& started() const { return started_; }
  const std::vector<TrialState>& trials() const { return trials_; }
  const std::set<TrialIndex>& open_trials() const { return open_; }  // created and not ended
  std::optional<std::int64_t> planned_trials() const { return searcher_->size(); }
  bool is_ending() const { return target_reached_ || (is_hopeless() && !any_report_); }

  // Since it was started or last resumed. Of a sweep that had reports before then; else it is ending.
  bool is_hopeless() const { return !any_report_in_run_ && failed_in_run_ >= kHopelessTrials; }
  bool is_interrupted() const { return interrupted_.has_value(); }
  const std::optional<Interrupted>& interrupted() const { return interrupted_; }
  const std::optional<SweepEnded>& ended() const { return ended_; }

  // By the best value in any report; ties go to the lower index. Nothing where no trial has a number.
  std::optional<TrialIndex> best_trial() const;

 private:
  struct BestCheckpoint {
    TrialIndex trial;
    std::string name;
    double value;
  };

  Status fold(const SweepStarted& record);
  Status fold(const Resumed& record);
  Status fold(const TrialCreated& record);
  Status fold(const GenerationStarted& record);
  Status fold(const Reported& record);
  Status fold(const Checkpointed& record);
  Status fold(const RankFailed& record);
  Status fold(const TrialEnded& record);
  Status fold(const CheckpointDropped& record);
  Status fold(const Interrupted& record);
  Status fold(const SweepEnded& record);

  Result<TrialState*> find(TrialIndex trial);  // Corrupt where there is none
  Result<TrialState*> find_open(TrialIndex trial,
                                int generation);  // and where it has ended, or is in another generation
  Verdict judge(const Reported& report);
  void accept(TrialState& trial, const Reported& report);
  void hold(TrialState& trial, HeldCheckpoint held);
  void find_best_again();
  void consider_best(const TrialState& trial, const HeldCheckpoint& held);
  std::optional<std::string> surplus(const TrialState& trial) const;
  std::optional<Record> owed_end() const;
  std::optional<Record> owed_drop();

  Sweep sweep_;
  std::unique_ptr<Searcher> searcher_;
  std::unique_ptr<Scheduler> scheduler_;
  std::vector<TrialState> trials_;
  std::set<TrialIndex> open_;
  std::set<TrialIndex> to_prune_;  // where `owed` has to look for checkpoints to drop: a work list, not state
  std::optional<BestCheckpoint> best_checkpoint_;
  std::optional<SweepStarted> started_;
  std::optional<Interrupted> interrupted_;
  std::optional<SweepEnded> ended_;
  bool target_reached_ = false;
  bool any_report_ = false;
  bool any_report_in_run_ = false;  // since the start or the last resume
  int failed_in_run_ = 0;
};

// The seed of a trial: of the sweep's seed and the trial's index alone.
std::uint64_t trial_seed(std::uint64_t sweep_seed, TrialIndex trial);

}  // namespace rt::tune
