#pragma once
// Peers: the actors that this process calls, and the calls under way. Direct connections, one an actor.
//
// Owner: the client. Threads: any; one lock. A call waits here while its actor starts, and is completed by its reply
// or by the actor's death notice: NotSent where it certainly didn't run, MaybeRan where it may have.

#include <boost/asio/io_context.hpp>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "rt/actors/client.h"
#include "rt/runtime/net/transport.h"

namespace rt::detail {

class Peers {
 public:
  // `watch` asks for news of an actor that was spawned elsewhere.
  Peers(boost::asio::io_context& io, void* context, std::function<void(ActorId)> watch);

  void expect(ActorId actor);  // spawned here: news will come
  std::shared_ptr<CallState> call(ActorId actor, std::string_view method, std::string arguments);
  void on_started(ActorId actor, std::uint32_t incarnation, const std::string& address);
  void on_died(const ActorDeath& death);
  void fail_all(const Error& error);  // the agent is gone: no news will come

 private:
  struct Call {
    std::uint64_t sequence;
    std::string method, arguments;
    std::shared_ptr<CallState> state;
  };
  struct Peer {
    bool started = false;
    std::uint32_t incarnation = 0;
    std::string address;
    std::string dead;  // the cause; empty: alive or not yet
    std::shared_ptr<Transport> transport;
    std::vector<Call> queued;                // not sent yet
    std::map<std::uint64_t, Call> sent;      // by sequence
  };
  using Completions = std::vector<std::pair<std::shared_ptr<CallState>, Result<std::string>>>;

  void send(ActorId actor, Peer& peer, Call call, Completions& done);
  Status connect(ActorId actor, Peer& peer);
  void on_reply(ActorId actor, const Frame& frame);
  void on_closed(ActorId actor, std::uint32_t incarnation);
  static void complete(const Completions& done);

  boost::asio::io_context& io_;
  void* const context_;
  const std::function<void(ActorId)> watch_;
  std::mutex mutex_;
  std::map<ActorId, Peer> peers_;
  std::uint64_t next_sequence_ = 1;
};

}  // namespace rt::detail
