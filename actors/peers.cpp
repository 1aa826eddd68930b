#include "rt/actors/peers.h"

#include <algorithm>
#include <cstring>

#include "rt/runtime/net/ring_poller.h"
#include "rt/runtime/net/ring_transport.h"
#include "rt/runtime/net/unix_socket.h"
#include "rt/runtime/wire/call.h"

namespace rt::detail {
namespace {

Error error_of(wire::Outcome outcome, std::string_view body, std::string_view method) {
  switch (outcome) {
    case wire::Outcome::Returned: break;
    case wire::Outcome::Threw: return {Code::Failed, std::string(body)};
    case wire::Outcome::UnknownMethod:
      return {Code::NotFound, "the actor's program has no method " + std::string(method) + "; was it built again?"};
    case wire::Outcome::Full: return {Code::Unavailable, std::string(body)};
  }
  return {Code::Corrupt, "the reply to " + std::string(method) + " has the unknown outcome " +
                             std::to_string(static_cast<std::uint32_t>(outcome))};
}

}  // namespace

Peers::Peers(boost::asio::io_context& io, void* context, std::function<void(ActorId)> watch)
    : io_(io), poller_(RingPoller::of(io)), context_(context), watch_(std::move(watch)) {}

void Peers::expect(ActorId actor) {
  const std::lock_guard lock(mutex_);
  peers_[actor];
}

std::shared_ptr<CallState> Peers::call(ActorId actor, wire::MethodName method, std::string_view arguments) {
  auto state = std::make_shared<CallState>(poller_, context_);
  if (const Status sent = submit(actor, method, state, arguments); !sent) state->fail(sent.error());
  return state;
}

Status Peers::send(ActorId actor, wire::MethodName method, std::string_view arguments) {
  return submit(actor, method, nullptr, arguments);
}

// An error: it wasn't sent, and never will be.
Status Peers::submit(ActorId actor, wire::MethodName method, const StatePtr& state, std::string_view arguments) {
  Completions done;
  bool is_new = false;
  {
    const std::lock_guard lock(mutex_);
    const auto [it, inserted] = peers_.try_emplace(actor);
    is_new = inserted;
    Peer& peer = it->second;
    if (!peer.dead.empty()) return Error{Code::NotSent, "the actor is dead: " + peer.dead};
    if (peer.connection && peer.queued.empty()) {
      const Status sent = transmit(actor, peer, method, state, arguments);
      if (sent || sent.error().code != Code::NotSent) return sent;
    }
    peer.queued.push_back({method, state, std::string(arguments)});
    flush(actor, peer, done);
  }
  if (is_new) watch_(actor);
  complete(done);
  return Unit{};
}

// Under the lock. What can't be sent because the actor just died stays, and waits for the news of it.
void Peers::flush(ActorId actor, Peer& peer, Completions& done) {
  while (peer.started && !peer.queued.empty()) {
    Waiting& next = peer.queued.front();
    Status sent = peer.connection ? Status(Unit{}) : connect(peer);
    if (sent) sent = transmit(actor, peer, next.method, next.state, next.arguments);
    if (!sent && sent.error().code == Code::NotSent) return;
    if (!sent && next.state) done.emplace_back(next.state, sent.error());
    peer.queued.pop_front();
  }
}

// NotSent where the connection has closed.
Status Peers::transmit(ActorId actor, Peer& peer, wire::MethodName method, const StatePtr& state,
                       std::string_view arguments) {
  Connection& connection = *peer.connection;
  if (!connection.transport) return Error{Code::NotSent, "the connection is closed"};
  const wire::CallHeader header{.method = method.hash,
                                .sequence = state ? connection.first_sent + connection.sent.size() : 0,
                                .incarnation = peer.incarnation};
  RT_CHECK(connection.transport->send(FrameType::Call, actor, {reinterpret_cast<const char*>(&header), sizeof header},
                                      arguments));
  if (method.is_urgent) connection.transport->alert();
  if (state) connection.sent.push_back({actor, peer.incarnation, method, state});
  return Unit{};
}

Status Peers::connect(Peer& peer) {
  std::weak_ptr<Connection>& known = connections_[peer.address];
  if ((peer.connection = known.lock())) return Unit{};
  RT_TRY(socket, connect_unix_socket(peer.address));
  RT_TRY(transport, make_ring_transport(io_, socket.release(), RingSide::Connecting));
  const auto connection = std::make_shared<Connection>();
  connection->address = peer.address;
  connection->transport = transport;
  transport->start({.on_frame = [this, connection](const Frame& frame) { on_reply(*connection, frame); },
                    .on_close = [this, connection](const Error& error) { on_closed(connection, error); }});
  known = connection;
  peer.connection = connection;
  return Unit{};
}

void Peers::on_started(ActorId actor, std::uint32_t incarnation, const std::string& address) {
  Completions done;
  {
    const std::lock_guard lock(mutex_);
    Peer& peer = peers_[actor];
    if (!peer.dead.empty() || (peer.started && incarnation <= peer.incarnation)) return;
    peer.started = true;
    peer.incarnation = incarnation;
    peer.address = address;
    peer.connection = nullptr;
    flush(actor, peer, done);
  }
  complete(done);
}

void Peers::on_reply(Connection& connection, const Frame& frame) {
  wire::CallHeader header;
  if (frame.type != FrameType::Reply || frame.body.size() < sizeof header) return;
  std::memcpy(&header, frame.body.data(), sizeof header);
  const std::string_view body = frame.body.substr(sizeof header);
  StatePtr state;
  std::string_view method;
  {
    const std::lock_guard lock(mutex_);
    if (header.sequence - connection.first_sent >= connection.sent.size()) return;
    Sent& call = connection.sent[header.sequence - connection.first_sent];
    if (!call.state) return;
    state = std::move(call.state);
    method = call.method.text;
    drop_answered(connection);
  }
  if (header.outcome == wire::Outcome::Returned)
    state->complete(body);
  else
    state->fail(error_of(header.outcome, body, method));
}

void Peers::drop_answered(Connection& connection) {
  for (; !connection.sent.empty() && !connection.sent.front().state; ++connection.first_sent)
    connection.sent.pop_front();
}

// What was under way is ended by the death notice: a worker closes a connection only by dying. One that sent what is no
// frame may live on, and no notice would come.
void Peers::on_closed(const std::shared_ptr<Connection>& connection, const Error& error) {
  Completions done;
  {
    const std::lock_guard lock(mutex_);
    connection->transport = nullptr;
    if (error.code == Code::Corrupt) {
      for (auto& [actor, peer] : peers_)
        if (peer.connection == connection) peer.connection = nullptr;
      for (Sent& call : std::exchange(connection->sent, {}))
        if (call.state)
          done.emplace_back(std::move(call.state),
                            Error{Code::MaybeRan, "the connection was closed under the call of " +
                                                      std::string(call.method.text) + ": " + error.message});
    }
    for (const Verdict& verdict : std::exchange(connection->verdicts, {})) end_sent(*connection, verdict, done);
    const auto known = connections_.find(connection->address);
    if (known != connections_.end() && known->second.lock() == connection) connections_.erase(known);
  }
  complete(done);
}

void Peers::end_sent(Connection& connection, const Verdict& verdict, Completions& done) {
  for (Sent& call : connection.sent)
    if (call.state && call.actor == verdict.actor && call.incarnation <= verdict.incarnation)
      done.emplace_back(std::move(call.state),
                        Error{Code::MaybeRan, "the actor died under the call of " + std::string(call.method.text) +
                                                  ": " + verdict.why});
  drop_answered(connection);
}

void Peers::on_died(const ActorDeath& death) {
  Completions done;
  {
    const std::lock_guard lock(mutex_);
    Peer& peer = peers_[death.actor];
    if (!peer.dead.empty() || death.incarnation < peer.incarnation) return;
    const std::string why = death.cause.empty() ? "unknown cause" : death.cause;
    const std::string lines = death.last_lines.empty() ? "" : "\nits last lines:\n" + death.last_lines;
    if (const auto connection = std::exchange(peer.connection, nullptr)) {
      const Verdict verdict{death.actor, death.incarnation, why + lines};
      if (connection->transport) {
        connection->verdicts.push_back(verdict);
        connection->transport->peer_is_dead();
      } else {
        end_sent(*connection, verdict, done);
      }
    }
    peer.started = false;
    if (!death.will_restart) {
      for (Waiting& next : std::exchange(peer.queued, {}))
        if (next.state)
          done.emplace_back(next.state, Error{Code::NotSent, "the actor died before the call of " +
                                                                 std::string(next.method.text) + ": " + why + lines});
      bury(death.actor, peer, why);
    }
  }
  complete(done);
}

// `peer` may be gone afterwards.
void Peers::bury(ActorId actor, Peer& peer, const std::string& why) {
  peer.dead = why;
  dead_.push_back(actor);
  if (dead_.size() <= kMostDead) return;
  peers_.erase(dead_.front());
  dead_.pop_front();
}

void Peers::fail_all(const Error& error) {
  Completions done;
  {
    const std::lock_guard lock(mutex_);
    for (auto& [address, known] : connections_) {
      const auto connection = known.lock();
      if (!connection) continue;
      for (Sent& call : std::exchange(connection->sent, {}))
        if (call.state) done.emplace_back(std::move(call.state), Error{Code::MaybeRan, error.message});
      if (const auto transport = std::exchange(connection->transport, nullptr)) transport->close();
    }
    connections_.clear();
    for (auto& [actor, peer] : peers_) {
      for (Waiting& next : peer.queued)
        if (next.state) done.emplace_back(next.state, Error{Code::NotSent, error.message});
      if (peer.dead.empty()) peer = Peer{.incarnation = peer.incarnation, .dead = error.message};
    }
  }
  complete(done);
}

void Peers::complete(const Completions& done) {
  for (const auto& [state, error] : done) state->fail(error);
}

}  // namespace rt::detail
