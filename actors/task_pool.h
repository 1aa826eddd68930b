#pragma once
// TaskPool: the tasks that this process has started: those that wait for a worker process, and those under way.
//
// Owner: the process's client. Threads: any; one lock. A worker that the broker has granted runs this process's tasks,
// one at a time, while there are any and others don't wait too long for it. Invariant: every task's future ends.
// Bounded: by the memory of what was started; calls of workers push back no one.

#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "rt/actors/client.h"
#include "rt/actors/task_terms.h"
#include "rt/actors/wait_watch.h"
#include "rt/runtime/base/clock.h"

namespace rt {

namespace detail {

class TaskBroker;

class TaskPool final : public TaskStarter, public CallState::Sender {
 public:
  explicit TaskPool(Client& client) : client_(client) {}
  ~TaskPool() { close(); }

  std::shared_ptr<CallState> run(const wire::MethodName& function, Write write,
                                 const std::vector<std::shared_ptr<CallState>>& needs, const TaskTerms& terms,
                                 const JobProgram& program) override;
  void use_broker(ActorId broker) override;
  void close();  // what is left fails

 private:
  struct Item;
  struct Grant;
  struct Done;
  struct Needs;
  using ItemPtr = std::shared_ptr<Item>;
  struct Queue {
    std::deque<ItemPtr> waiting;
    int wanted = 0;
  };

  ActorId broker(const JobProgram& program);
  void make_ready(const ItemPtr& item, const Write& write);
  void put_in(const ItemPtr& item, bool is_first);
  void want_more(TaskShape shape);
  void on_grant(TaskShape shape, CallState& state);
  void dispatch(TaskShape shape, ActorId worker, TimePoint since);
  void on_done(const ItemPtr& item, ActorId worker, TimePoint since, CallState& call);
  bool goes_again(Item& item, const CallState& call);
  void let_go(ActorId worker, bool is_dead);
  void cancel(CallState& state) override;
  void grant(CallState&, std::uint32_t) override {}  // no task is a stream
  void probe(CallState&, Probe) override {}          // a task that waits gives its slot to others

  static constexpr int kMostWanted = 64;
  static constexpr std::chrono::milliseconds kTurn{20};  // then a worker goes back, where others may wait for one

  Client& client_;
  std::mutex mutex_;  // guards all below
  ActorId broker_ = 0;
  ActorId caller_ = 0;  // the actor that this process is; 0: none
  bool is_closed_ = false;
  std::map<TaskShape, Queue> queues_;
  std::map<const CallState*, ItemPtr> items_;  // all that aren't complete, by their futures
};

}  // namespace detail
}  // namespace rt
