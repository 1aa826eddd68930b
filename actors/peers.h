#pragma once
// Peers: the actors that this process calls, and the calls under way. Direct connections, one an actor.
//
// Owner: the client. Threads: any; one lock. A call waits here while its actor starts, and is completed by its reply
// or by the actor's death notice: NotSent where it certainly didn't run, MaybeRan where it may have.
// Invariant: what is queued for an actor leaves in order, and before any later call.
// Bounded: the causes of the last `kMostDead` deaths are kept; a call to an older one asks the head, which says it is
// gone.

#include <boost/asio/io_context.hpp>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "rt/actors/client.h"
#include "rt/runtime/net/transport.h"
#include "rt/runtime/wire/call.h"

namespace rt::detail {

class Peers {
 public:
  // `watch` asks for news of an actor that was spawned elsewhere.
  Peers(boost::asio::io_context& io, void* context, std::function<void(ActorId)> watch);

  void expect(ActorId actor);  // spawned here: news will come
  std::shared_ptr<CallState> call(ActorId actor, wire::MethodName method, std::string arguments);
  void on_started(ActorId actor, std::uint32_t incarnation, const std::string& address);
  void on_died(const ActorDeath& death);
  void fail_all(const Error& error);  // the agent is gone: no news will come

  static constexpr std::size_t kMostDead = 10000;

 private:
  struct Sent {
    wire::MethodName method;
    std::shared_ptr<CallState> state;  // null once it was answered
  };
  struct Call {
    Sent call;
    std::string arguments;
  };
  struct Peer {
    bool started = false;
    std::uint32_t incarnation = 0;
    std::string address;
    std::string dead;  // the cause; empty: alive or not yet
    std::shared_ptr<Transport> transport;
    std::deque<Call> queued;  // not sent yet
    std::deque<Sent> sent;    // in order; the first one's number is `first_sent`, its state isn't null
    std::uint64_t first_sent = 1;
  };
  using Completions = std::vector<std::pair<std::shared_ptr<CallState>, Result<std::string>>>;

  void flush(ActorId actor, Peer& peer, Completions& done);
  static Status send(ActorId actor, Peer& peer, const Sent& call, std::string_view arguments);
  static void end_sent(Peer& peer, const std::string& what, const std::string& why, Completions& done);
  void bury(ActorId actor, Peer& peer, const std::string& why);
  Status connect(ActorId actor, Peer& peer);
  void on_reply(ActorId actor, const Frame& frame);
  void on_closed(ActorId actor, std::uint32_t incarnation, const Error& error);
  static void complete(const Completions& done);

  boost::asio::io_context& io_;
  RingPoller& poller_;
  void* const context_;
  const std::function<void(ActorId)> watch_;
  std::mutex mutex_;
  std::unordered_map<ActorId, Peer> peers_;
  std::deque<ActorId> dead_;  // oldest first
};

}  // namespace rt::detail
