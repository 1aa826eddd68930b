#pragma once
// InlineNode: a whole cluster in this process, on one thread (RT_LOCAL=inline): the same head as everywhere, and in
// place of the node's agent what answers it here: it lets actors live as parties of one scheduler.
//
// Owner: rt::Cluster. Thread: the one that made it. The destructor ends all actors, the last one first, and returns
// when they have been destroyed.

#include <boost/asio/steady_timer.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "rt/actors/inline/worker.h"
#include "rt/runtime/head/head.h"

namespace rt {

struct ConnectOptions;

namespace detail {

class InlineNode {
 public:
  static Result<std::unique_ptr<InlineNode>> start(const ConnectOptions& options);
  ~InlineNode();

  std::shared_ptr<Client> join_driver(const std::string& name_space);  // once

 private:
  using ClientId = std::uint64_t;
  struct Kept {
    std::unique_ptr<InlineWorker> worker;
    ClientId client = 0;
    bool kill_asked = false, deadline_passed = false;
    std::unique_ptr<boost::asio::steady_timer> deadline;  // to leave by itself
  };

  InlineNode() : tick_(scheduler_.io()) {}
  Status register_here(const ConnectOptions& options);
  std::shared_ptr<Client> join(Party& party, ClientId client,
                               const std::function<void(const std::shared_ptr<InlineLink>&)>& keep);
  Result<std::shared_ptr<Transport>> connect(Party& from, const std::string& address);

  void tell_head(Origin from, std::string_view control);
  template <class Fill>
  void tell_head(Fill&& fill);
  void watch_tick();
  void on_head_says(wire::Control::Reader control);
  void start_worker(wire::StartWorker::Reader start);
  void kill_worker(wire::Kill::Reader kill);
  void end(Kept& kept);
  void bury(ActorId actor);

  const TimePoint began_ = SystemClock().now();
  Scheduler scheduler_;
  Head head_{1};
  NodeId node_ = 0;
  ClientId next_client_ = 0;
  boost::asio::steady_timer tick_;
  std::optional<HeadTime> awaited_;  // what the timer waits for
  std::map<ClientId, std::shared_ptr<InlineLink>> clients_;
  std::map<ActorId, Kept> workers_;
  std::vector<ActorId> order_;  // in which they were started
  Waiter all_ended_;
};

}  // namespace detail
}  // namespace rt
