#pragma once
// Scheduler: the one thread of a cluster that has no processes (RT_LOCAL=inline). Whoever waits gives its turn to
// others, in one order: who has become ready first; then what was sent, first in, first out; then timers.
//
// Owner: InlineNode. Thread: the one that made it; others are refused. The driver has the thread's own stack, and on it
// what is sent arrives; each actor has a fiber. Nothing runs but while somebody waits.
// Time: a wait with a limit ends by it, or at once where nothing could come before it any more. One without a limit
// that nothing can end fails with Code::Deadlock (wait_graph.h).

#include <boost/asio/io_context.hpp>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "rt/actors/client.h"
#include "rt/actors/inline/fiber.h"
#include "rt/actors/worker_context.h"
#include "rt/runtime/net/ring_poller.h"

namespace rt {
class RunningCall;
}

namespace rt::detail {

class Blocking;
class Executor;

struct Strand;

// The driver, or an actor.
struct Party {
  ActorId actor = 0;                 // 0: the driver
  std::string words = "the driver";  // for people
  Client* client = nullptr;
  WorkerContext* context = nullptr;
  bool is_ending = false;        // it is heard no more
  std::vector<Strand*> strands;  // that have begun
};

// One of the stacks of a party: what is a thread where there are processes. The driver's has no fiber.
struct Strand {
  explicit Strand(Party& of) : party(of) {}
  Party& party;
  Executor* home = nullptr;        // that it has between two methods
  std::function<void()> body;      // on its fiber; throws nothing
  std::function<void()> on_ended;  // on the thread's own stack; may destroy this
  bool is_ending = false;          // its waits throw WorkerEnds
  bool is_closing = false;         // nothing ends it any more: it is about to end

  // --- the scheduler's
  std::unique_ptr<Fiber> fiber;
  Waiter* waits_for = nullptr;
  TimePoint until = TimePoint::max();
  std::optional<Error> gives_up;  // why its wait fails
  Executor* executor = nullptr;   // while it doesn't run
  RunningCall* call = nullptr;
  Blocking* blocking = nullptr;

  bool is_idle() const { return fiber && executor == home && !call; }  // waits for its next call
  bool waits_for_no_call() const { return waits_for && !is_idle() && !waits_for->is_for_calls; }
};

class Scheduler final : public Turns {
 public:
  Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  boost::asio::io_context& io() { return io_; }  // for timers
  RingPoller& poller() { return poller_; }
  Party& driver() { return driver_; }

  void add(Party& party);      // an actor
  void begin(Strand& strand);  // its first turn comes
  void end(Party& party);      // the waits of its strands throw from now on
  void end(Strand& strand);
  void remove(Strand& strand);  // one that has ended
  void remove(Party& party);    // with all that is under way to it; its strands have ended
  void post(Party& to, std::function<void()> event);
  void drain_timers();  // what is due

  // For as long as it lives, what happens is done in the name of `party`.
  class InTheNameOf {
   public:
    InTheNameOf(Scheduler& scheduler, Party& party, Executor* executor = nullptr, RunningCall* call = nullptr,
                Blocking* blocking = nullptr);
    ~InTheNameOf();

   private:
    Scheduler& scheduler_;
    Party* const before_;
    Executor* const executor_;
    RunningCall* const call_;
    Blocking* const blocking_;
  };

  bool wait(Waiter& waiter, TimePoint until) override;
  void completed(Waiter& waiter) override;
  void post(std::function<void()> run) override;

 private:
  struct Event {
    Party* to;
    std::function<void()> run;
  };

  void check_thread() const;
  bool wait_in_fiber(Waiter& waiter, TimePoint until);
  bool wait_on_own_stack(Waiter& waiter, TimePoint until);
  bool step();
  void take_turn(Strand& strand);
  bool pass_time(TimePoint until);
  void end_a_wait();
  void make_ready(Strand& strand);

  boost::asio::io_context io_{1};
  RingPoller& poller_;
  const std::thread::id thread_ = std::this_thread::get_id();
  Party driver_;
  Strand driver_strand_{driver_};
  Party* current_ = &driver_;
  Strand* running_ = nullptr;    // whose fiber runs
  std::vector<Party*> parties_;  // the driver, then in the order in which they were added
  std::deque<Strand*> ready_;
  std::deque<Event> events_;
  std::unordered_map<const Waiter*, Strand*> waiting_;
};

}  // namespace rt::detail
