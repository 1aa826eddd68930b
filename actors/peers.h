#pragma once
// Peers: the actors that this process calls, and the calls under way. Direct connections, one a process that hosts any
// of them.
//
// Owner: the client. Threads: any; one lock. A call waits here while its actor starts, and is completed by its reply
// or by the actor's death: NotSent where it certainly didn't run, MaybeRan where it may have. What a dead actor had
// still answered counts: its connection is read to the end first.
// An idempotent call that died with its actor is sent again where that comes back.
// Invariant: what is queued for an actor leaves in order, and before any later call.
// Whoever calls faster than an actor answers is held back: over its `most_pending` calls, or where its ring and the
// queue before that are full, a call waits here, with its thread, for `kPatience` at most.
// Bounded: the causes of the last `kMostDead` deaths are kept; a call to an older one asks the head, which says it is
// gone.

#include <tbb/spin_mutex.h>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "rt/actors/client.h"
#include "rt/actors/process_store.h"
#include "rt/actors/wait_watch.h"
#include "rt/runtime/base/clock.h"
#include "rt/runtime/net/ring_poller.h"
#include "rt/runtime/net/transport.h"
#include "rt/runtime/wire/call.h"

namespace rt::detail {

class Peers final : public CallState::Sender {
 public:
  using Connect = std::function<Result<std::shared_ptr<Transport>>(const std::string& address)>;
  // `watch` asks for news of an actor that was spawned elsewhere. `connect`: another way than a ring, where not null.
  Peers(boost::asio::io_context& io, void* context, std::function<void(ActorId)> watch, Connect connect = nullptr);

  void expect(ActorId actor, const CallLimits& limits = {});  // spawned here: news will come
  std::shared_ptr<CallState> call(ActorId actor, wire::MethodName method, std::string_view arguments,
                                  CallTerms terms = {});
  // One way: no answer comes. NotSent where the actor is known to be dead.
  Status send(ActorId actor, wire::MethodName method, std::string_view arguments, CallTerms terms = {});
  void on_started(ActorId actor, std::uint32_t incarnation, const std::string& address, const CallLimits& limits = {});
  void on_died(const ActorDeath& death);
  void fail_all(const Error& error);      // the agent is gone: no news will come
  std::vector<CallUnderWay> under_way();  // in no order
  void give_up(CallState& state, const Error& error);

  static constexpr std::size_t kMostDead = 10000;
  static constexpr int kMostAttempts = 4;  // of an idempotent call
  static constexpr std::chrono::seconds kPatience{30};

 private:
  static constexpr TimePoint kNever = TimePoint::max();
  using StatePtr = std::shared_ptr<CallState>;
  struct Sent {
    ActorId actor;
    std::uint32_t incarnation;
    bool is_counted;
    int attempts;
    wire::MethodName method;
    StatePtr state;  // null once it was answered
    TimePoint deadline;
    std::unique_ptr<std::string> arguments;  // of an idempotent one
    Attachments objects;                     // likewise
  };
  // What a death means for the calls that it ended, once its connection has been read to the end.
  struct Verdict {
    ActorId actor;
    std::uint32_t incarnation;
    bool will_restart;
    std::string why;
  };
  // To one process.
  struct Connection {
    std::string address;
    std::shared_ptr<Transport> transport;  // none once it has closed
    std::vector<Verdict> verdicts;
    std::deque<Sent> sent;  // in order; the first one's number is `first_sent`, its state isn't null
    std::uint64_t first_sent = 1;
  };
  struct Waiting {
    wire::MethodName method;
    StatePtr state;  // null of a one-way call
    TimePoint deadline;
    std::string arguments;
    bool is_counted = false;
    int attempts = 0;  // so far
    Attachments objects;
  };
  struct Peer {
    bool started = false;
    std::uint32_t incarnation = 0;
    std::string address;
    std::string dead;  // the cause; empty: alive or not yet
    std::shared_ptr<Connection> connection;
    std::deque<Waiting> queued;  // not sent yet
    CallLimits limits;
    std::size_t queued_bytes = 0;
    std::uint32_t pending = 0;  // of its calls, those that are counted: not answered yet
  };
  using Completions = std::vector<std::pair<StatePtr, Error>>;

  // What is to be sent.
  struct Message {
    wire::MethodName method;
    const StatePtr& state;
    TimePoint deadline;
    std::string_view arguments;
    bool is_counted = false;
    int attempts = 0;
    const Attachments* objects = nullptr;
  };

  Status submit(ActorId actor, Message message);  // waits where it must
  Status submit_now(ActorId actor, Message& message);
  void wait_for_room(TimePoint until);
  void flush_soon();
  StatePtr answered(Sent& call);
  void uncount(ActorId actor);
  void flush(ActorId actor, Peer& peer, Completions& done);
  Status transmit(ActorId actor, Peer& peer, const Message& message);
  void end_sent(Connection& connection, const Verdict& verdict, Completions& done);
  static void drop_answered(Connection& connection);
  void forget_if_over(Connection& connection);
  void bury(ActorId actor, Peer& peer, const std::string& why);
  Status connect(Peer& peer);
  std::optional<Error> receive_objects(Connection& connection, const wire::CallHeader& header, std::string_view& body,
                                       Attachments& objects);
  void on_reply(Connection& connection, const Frame& frame);
  void on_closed(const std::shared_ptr<Connection>& connection, const Error& error);
  void cancel(CallState& state) override;
  void grant(CallState& state, std::uint32_t items) override;
  void probe(CallState& state, Probe probe) override;
  static void tell(const Peer& peer, const CallState& state, FrameType type, std::uint64_t word,
                   std::string_view body = {});
  static bool is_under_way(const Connection& connection, const CallState& state);
  void watch_deadline(TimePoint deadline);
  void on_deadline();
  static void complete(const Completions& done);

  boost::asio::io_context& io_;
  RingPoller& poller_;
  ProcessStore& store_;
  void* const context_;
  const std::function<void(ActorId)> watch_;
  const Connect connect_;
  boost::asio::steady_timer timer_, flush_timer_;  // of the I/O thread
  tbb::spin_mutex mutex_;                          // guards all below
  TimePoint next_deadline_ = kNever;
  bool is_to_flush_ = false;
  std::unordered_map<ActorId, Peer> peers_;
  // By address: those that are open, and those that have closed over calls which no news has ended yet.
  std::unordered_map<std::string, std::shared_ptr<Connection>> connections_;
  std::deque<ActorId> dead_;      // oldest first
  std::vector<Waiter*> waiting_;  // threads that want to call
};

}  // namespace rt::detail
