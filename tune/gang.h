#pragma once
// Gang: the processes of one trial under way: its lease, its ranks' actors, the calls to them.
//
// Owner: the runner, one a running trial. Thread: the runner's; answers of ranks come through its queue.
// What comes late, after `release` or for an older generation, changes nothing.
// It reports what happened as the tuner's events, each tagged with the generation; once a rank has failed nothing more
// is told of that generation but its end.

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "rt/actors/client.h"
#include "rt/actors/program_copy.h"
#include "rt/tune/event_queue.h"
#include "rt/tune/events.h"
#include "rt/tune/filing_thread.h"
#include "rt/tune/value.h"

namespace rt::tune {

// What all trials of a sweep share.
struct TrialPlan {
  std::string trainable;  // empty: a program in any language
  JobProgram job;         // what hosts the ranks
  int ranks = 1, cpus_per_rank = 1, gpus_per_rank = 0, max_failures = 0;
  std::filesystem::path directory;  // of the sweep, absolute
  std::string working_folder;       // of the ranks
  std::string python_path;          // the folder of rt.py
  JobProgram store;                 // hosts a gang's store for programs; empty path: there is none
  std::chrono::milliseconds stop_deadline{30000};
  std::function<std::vector<std::string>(const Value& parameters, const std::string& trial_folder)>
      argv;  // of a program
};

struct GangTools {
  detail::Client& client;
  std::shared_ptr<EventQueue> queue;  // shared: answers may still come when the runner is gone
  FilingThread& filing;
  std::function<void(Event)> tell;
  std::function<void(Error)> give_up;             // the sweep can't go on here and now; no event follows
  std::function<void(ActorId, class Gang*)> own;  // deaths of this actor go to that gang; null: to nobody
};

class Gang {
 public:
  Gang(TrialIndex trial, const TrialPlan& plan, GangTools tools);
  ~Gang();

  void request();
  // A launch follows the end of the generation before: none of its ranks is alive.
  // `held`: the trial's recorded checkpoints, launch.restore among them.
  void launch(const Launch& launch, const std::string& parameters, std::uint64_t seed,
              const std::vector<Checkpoint>& held);
  void step(std::int64_t step);
  void save(std::int64_t step, const std::string& name);
  void stop(int generation);
  void release();
  void on_death(const ActorDeath& death);

 private:
  struct Rank {
    ActorId actor = 0;
    bool alive = false;
    bool finished = false;  // a program's: it ended by itself, all well
    bool reading = false;   // a program's: its next report is awaited
  };
  using Answer = std::function<void(int rank, const std::string& bytes)>;

  void start_ranks(const Launch& launch, const std::string& parameters, std::uint64_t seed);
  std::string setup_message(const Launch& launch, const std::string& parameters, std::uint64_t seed, int rank) const;
  void start_store(std::function<void()> then);
  void ask(int rank, wire::MethodName method, std::string bytes, Answer answer);
  void ask_all(wire::MethodName method, const std::string& bytes, std::function<void(std::vector<std::string>)> then);
  void next_program_report(int rank);
  void on_program_report(int rank, const std::string& bytes);
  void fail(int rank, const Error& cause);
  void fail(RankDied died, Code code);
  void kill_ranks();
  void kill_when_read();
  void tell_stopped_when_gone();
  bool is_program() const { return plan_.trainable.empty(); }
  std::filesystem::path checkpoints() const { return folder_ / "checkpoints"; }
  std::string log_of(int rank) const { return (folder_ / ("rank-" + std::to_string(rank) + ".log")).string(); }

  // `work`, to be done on the runner's thread unless this generation is over by then. May be called from any thread.
  template <class Work>
  std::function<void()> later(Work work) {
    return [this, alive = alive_, generation = generation_, work = std::move(work)]() mutable {
      if (*alive && generation == generation_ && !failed_) work();
    };
  }

  const TrialIndex trial_;
  const TrialPlan& plan_;
  const GangTools tools_;
  const std::string id_;
  const std::filesystem::path folder_;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // false once released

  std::uint64_t lease_request_ = 0;
  std::optional<Lease> lease_;
  int generation_ = 0;
  bool failed_ = false;  // of this generation
  bool stopping_ = false;
  bool programs_stopped_ = false;  // all of them: no report is written any more
  std::vector<Rank> ranks_;
  ActorId store_ = 0;
  std::uint16_t store_port_ = 0;
  Report last_program_report_;
  std::optional<TrialStopped> stopped_;
};

}  // namespace rt::tune
