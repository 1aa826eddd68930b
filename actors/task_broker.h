#pragma once
// TaskBroker: the actor that hands out worker processes for tasks. One a program and cluster, made with the first task.
// What it decides is TaskBoard's; here it is carried out.
//
// TaskWorker: the actor whose process runs tasks, one at a time. Its slot is the broker's, so it holds none itself.

#include <boost/asio/steady_timer.hpp>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "rt/actors/actor.h"
#include "rt/actors/blocking.h"
#include "rt/actors/task.h"
#include "rt/actors/task_board.h"
#include "rt/actors/watch.h"

namespace rt::detail {

struct TaskGrant {
  ActorId worker = 0;  // 0: the error
  std::uint16_t code = 0;
  std::string error;
};

class TaskBroker {
 public:
  TaskBroker();
  Task<TaskGrant> want(ActorId caller, TaskShape shape);  // caller 0: a driver
  void finished(ActorId worker);
  void waits(ActorId worker);
  void goes_on(ActorId worker);

  // --- from itself
  void leased(std::uint64_t lease, TaskShape shape);
  void refused(TaskShape shape, std::uint16_t code, std::string error);
  void died(ActorId actor);
  void tick();

 private:
  struct Waiting {
    std::shared_ptr<CallState> event;
    TaskGrant grant;
  };
  void carry_out(const TaskBoard::Commands& commands);
  void start(const TaskBoard::Start& start);
  void ask(TaskShape shape);
  void end(std::uint64_t number);
  std::uint64_t number_of(ActorId worker) const;  // 0: it is none's
  void watch(ActorId actor);

  TaskBoard board_;
  Client& client_;
  const Actor<TaskBroker> self_;
  std::uint64_t last_want_ = 0;
  std::map<std::uint64_t, std::shared_ptr<Waiting>> waiting_;  // by want
  std::unordered_map<std::uint64_t, ActorId> actors_;          // by worker
  std::unordered_map<ActorId, std::uint64_t> workers_;
  std::unordered_map<ActorId, Watch> watches_;  // of workers, and of callers
  boost::asio::steady_timer timer_;
  bool is_ticking_ = false;
};

class TaskWorker final : public Blocking {
 public:
  explicit TaskWorker(Actor<TaskBroker> broker);
  ~TaskWorker() override;

 private:
  void begins() override;
  void ends() override;
  Actor<TaskBroker> broker_;
};

}  // namespace rt::detail
