#pragma once
// TaskBoard: which task's caller gets which worker process, and when. The slots come from the head, as leases; here it
// is decided who uses them.
//
// Owner: the broker (task_broker.h). Pure: events come in, what is to be done goes out. Invariants: a worker runs for
// one caller; a running worker has a slot, or goes on after a wait and gets the next one that is free. A task that
// waits lends its slot, so tasks that wait for the tasks they started always come to an end. What a task started comes
// before what waits for a first worker: so few are begun and not ended. Bounded: kMostWorkers processes.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "rt/actors/task_terms.h"
#include "rt/runtime/base/result.h"

namespace rt::detail {

class TaskBoard {
 public:
  static constexpr std::size_t kMostWorkers = 512;
  static constexpr int kMostAsked = 8;  // leases of a shape that are waited for

  struct Want {
    std::uint64_t number = 0, caller = 0;
    TaskShape shape;
    std::uint64_t from_worker = 0;  // the caller is that worker; 0: it is none
  };
  // What is to be done.
  struct Grant {
    std::uint64_t want, worker;
  };
  struct Start {
    std::uint64_t worker;
    std::uint64_t lease;  // it starts in there; 0: in none
  };
  struct Refusal {
    std::uint64_t want;
    Error error;
  };
  struct Commands {
    std::vector<Start> start;  // before the grants
    std::vector<Grant> grants;
    std::vector<Refusal> refusals;
    std::vector<TaskShape> ask;          // for leases of one such bundle
    std::vector<std::uint64_t> release;  // leases
    std::vector<std::uint64_t> end;      // workers
  };

  Commands want(const Want& want);
  Commands leased(std::uint64_t lease, TaskShape shape);
  Commands refused(TaskShape shape, const Error& error);
  Commands finished(std::uint64_t worker);  // its caller is through with it
  Commands died(std::uint64_t worker);
  Commands waits(std::uint64_t worker);
  Commands goes_on(std::uint64_t worker);
  Commands caller_died(std::uint64_t caller);
  Commands tick();  // what has been idle since the last one is given back

  bool is_anything_idle() const;

 private:
  enum class Activity { Idle, Running, Waiting };
  struct Worker {
    Activity activity = Activity::Idle;
    std::uint64_t caller = 0, lease = 0;
    TaskShape shape;
    std::uint32_t depth = 0;  // of tasks that wait for what it runs
    bool was_idle = false;    // at the last tick
  };
  struct Free {
    std::uint64_t lease;
    bool was_idle = false;
  };
  struct Order {  // the deeper one first, then the older one
    bool operator()(const std::pair<std::uint32_t, std::uint64_t>& a,
                    const std::pair<std::uint32_t, std::uint64_t>& b) const {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    }
  };

  void lay_down(Worker& worker, Commands& commands);
  void free_slot(std::uint64_t lease, TaskShape shape);
  std::uint64_t idle_worker() const;
  void place(Commands& commands);
  bool place_one(const Want& want, std::uint32_t depth, Commands& commands);
  void refuse_where_stuck(Commands& commands);

  std::map<std::uint64_t, Worker> workers_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, Want, Order> wants_;
  std::map<TaskShape, std::vector<Free>> free_;           // slots that nobody uses
  std::map<TaskShape, std::vector<std::uint64_t>> owed_;  // workers that run without one
  std::map<TaskShape, int> asked_;
  std::uint64_t last_worker_ = 0;
};

}  // namespace rt::detail
