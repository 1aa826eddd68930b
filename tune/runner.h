#pragma once
// Runner: carries out what the pure tuner decides, in a cluster that is started for it.
//
// Owner: rtctl tune, one a sweep. Threads: its loop runs on the caller's; ranks, deaths, files and signals come through
// one queue. Records are in the journal before the commands that follow from them are carried out.

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "rt/actors/cluster_parts.h"
#include "rt/runtime/base/journal.h"
#include "rt/tune/gang.h"
#include "rt/tune/tuner.h"

namespace rt::tune {

class Runner {
 public:
  // What a view is told: after records were applied, and about once a second.
  struct View {
    std::function<void(const Record&, const Tuner&)> on_record;
    std::function<void(const Tuner&)> on_tick;
  };

  Runner(Tuner tuner, std::unique_ptr<Journal> journal, Cluster::Parts& cluster, TrialPlan plan, View view);
  ~Runner();

  // From `first` (of Tuner::start or ::resume) until the tuner says Finish. An Error ends the sweep where it is: the
  // journal can't be written, or the cluster is gone; it can be resumed.
  Status run(Outcome first);

  void interrupt();  // from any thread: stop cleanly (Ctrl-C)
  const Tuner& tuner() const { return tuner_; }

 private:
  int slots() const;
  void tell(const Event& event);
  void carry_out(const Outcome& outcome);
  Status keep(const std::vector<Record>& records);
  void obey(const Command& command);
  Gang& gang(TrialIndex trial) { return *gangs_.at(trial); }

  Tuner tuner_;
  std::unique_ptr<Journal> journal_;
  Cluster::Parts& cluster_;
  const TrialPlan plan_;
  const View view_;
  const std::shared_ptr<EventQueue> queue_ = std::make_shared<EventQueue>();  // shared with who may answer late
  FilingThread filing_;
  std::map<TrialIndex, std::unique_ptr<Gang>> gangs_;
  std::map<ActorId, Gang*> owner_of_actor_;
  bool finished_ = false;
  std::optional<Error> failure_;
};

}  // namespace rt::tune
