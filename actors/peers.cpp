#include "rt/actors/peers.h"

#include <cstring>

#include "rt/runtime/net/ring_poller.h"
#include "rt/runtime/net/ring_transport.h"
#include "rt/runtime/net/unix_socket.h"
#include "rt/runtime/wire/call.h"

namespace rt::detail {
namespace {

Result<std::string> result_of(const wire::CallHeader& header, std::string_view body, std::string_view name) {
  const std::string method(header.outcome == wire::Outcome::Returned ? "" : name);
  const std::string text(body);
  if (header.size != body.size())
    return Error{Code::Corrupt, "the reply to " + std::string(name) + " has " + std::to_string(body.size()) +
                                    " bytes, its header says " + std::to_string(header.size)};
  switch (header.outcome) {
    case wire::Outcome::Returned: return text;
    case wire::Outcome::Threw: return Error{Code::Failed, text};
    case wire::Outcome::UnknownMethod:
      return Error{Code::NotFound, "the actor's program has no method " + method + "; was it built again?"};
    case wire::Outcome::Full: return Error{Code::Unavailable, text};
  }
  return Error{Code::Corrupt, "the reply to " + method + " has the unknown outcome " +
                                  std::to_string(static_cast<std::uint32_t>(header.outcome))};
}

}  // namespace

Peers::Peers(boost::asio::io_context& io, void* context, std::function<void(ActorId)> watch)
    : io_(io), poller_(RingPoller::of(io)), context_(context), watch_(std::move(watch)) {}

void Peers::expect(ActorId actor) {
  const std::lock_guard lock(mutex_);
  peers_[actor];
}

std::shared_ptr<CallState> Peers::call(ActorId actor, wire::MethodName method, std::string arguments) {
  auto state = std::make_shared<CallState>(poller_, context_);
  Completions done;
  bool is_new = false;
  {
    const std::lock_guard lock(mutex_);
    const auto [it, inserted] = peers_.try_emplace(actor);
    is_new = inserted;
    Peer& peer = it->second;
    if (!peer.dead.empty()) {
      done.emplace_back(state, Error{Code::NotSent, "the actor is dead: " + peer.dead});
    } else {
      Sent call{method, state};
      if (!peer.transport || !peer.queued.empty() || !send(actor, peer, call, arguments)) {
        peer.queued.push_back({std::move(call), std::move(arguments)});
        flush(actor, peer, done);
      }
    }
  }
  if (is_new) watch_(actor);
  complete(done);
  return state;
}

// Under the lock. What can't be sent because the actor just died stays, and waits for the news of it.
void Peers::flush(ActorId actor, Peer& peer, Completions& done) {
  while (peer.started && !peer.queued.empty()) {
    Call& next = peer.queued.front();
    Status sent = peer.transport ? Status(Unit{}) : connect(actor, peer);
    if (sent) sent = send(actor, peer, next.call, next.arguments);
    if (!sent && sent.error().code == Code::NotSent) return;
    if (!sent) done.emplace_back(next.call.state, sent.error());
    peer.queued.pop_front();
  }
}

Status Peers::send(ActorId actor, Peer& peer, const Sent& call, std::string_view arguments) {
  const wire::CallHeader header{.actor = actor,
                                .incarnation = peer.incarnation,
                                .sequence = peer.first_sent + peer.sent.size(),
                                .method = call.method.hash,
                                .size = arguments.size()};
  RT_CHECK(
      peer.transport->send(FrameType::Call, 0, {reinterpret_cast<const char*>(&header), sizeof header}, arguments));
  peer.sent.push_back(call);
  return Unit{};
}

Status Peers::connect(ActorId actor, Peer& peer) {
  RT_TRY(socket, connect_unix_socket(peer.address));
  RT_TRY(transport, make_ring_transport(io_, socket.release(), RingSide::Connecting));
  transport->start({.on_frame = [this, actor](const Frame& frame) { on_reply(actor, frame); },
                    .on_close = [this, actor, incarnation = peer.incarnation](
                                    const Error& error) { on_closed(actor, incarnation, error); }});
  peer.transport = std::move(transport);
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
    flush(actor, peer, done);
  }
  complete(done);
}

void Peers::on_reply(ActorId actor, const Frame& frame) {
  wire::CallHeader header;
  if (frame.type != FrameType::Reply || frame.body.size() < sizeof header) return;
  std::memcpy(&header, frame.body.data(), sizeof header);
  Completions done;
  {
    const std::lock_guard lock(mutex_);
    Peer& peer = peers_[actor];
    if (header.sequence - peer.first_sent >= peer.sent.size()) return;
    Sent& call = peer.sent[header.sequence - peer.first_sent];
    if (!call.state) return;
    done.emplace_back(std::move(call.state), result_of(header, frame.body.substr(sizeof header), call.method.text));
    for (; !peer.sent.empty() && !peer.sent.front().state; ++peer.first_sent) peer.sent.pop_front();
  }
  complete(done);
}

// What was under way is completed by the death notice that follows: a worker closes a connection only by dying. One
// that sent what is no frame may live on, and no notice would come.
void Peers::on_closed(ActorId actor, std::uint32_t incarnation, const Error& error) {
  Completions done;
  {
    const std::lock_guard lock(mutex_);
    Peer& peer = peers_[actor];
    if (peer.incarnation != incarnation) return;
    peer.transport = nullptr;
    if (error.code == Code::Corrupt)
      end_sent(peer, "the connection was closed under the call of ", error.message, done);
  }
  complete(done);
}

void Peers::end_sent(Peer& peer, const std::string& what, const std::string& why, Completions& done) {
  peer.first_sent += peer.sent.size();
  for (Sent& call : std::exchange(peer.sent, {}))
    if (call.state)
      done.emplace_back(std::move(call.state),
                        Error{Code::MaybeRan, what + std::string(call.method.text) + ": " + why});
}

void Peers::on_died(const ActorDeath& death) {
  Completions done;
  {
    const std::lock_guard lock(mutex_);
    Peer& peer = peers_[death.actor];
    if (!peer.dead.empty() || death.incarnation < peer.incarnation) return;
    const std::string why = death.cause.empty() ? "unknown cause" : death.cause;
    const std::string lines = death.last_lines.empty() ? "" : "\nits last lines:\n" + death.last_lines;
    end_sent(peer, "the actor died under the call of ", why + lines, done);
    if (peer.transport) peer.transport->close();
    peer.transport = nullptr;
    peer.started = false;
    if (!death.will_restart) {
      for (Call& next : std::exchange(peer.queued, {}))
        done.emplace_back(next.call.state,
                          Error{Code::NotSent, "the actor died before the call of " +
                                                   std::string(next.call.method.text) + ": " + why + lines});
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
    for (auto& [actor, peer] : peers_) {
      for (Sent& call : peer.sent)
        if (call.state) done.emplace_back(call.state, Error{Code::MaybeRan, error.message});
      for (Call& next : peer.queued) done.emplace_back(next.call.state, Error{Code::NotSent, error.message});
      if (peer.transport) peer.transport->close();
      if (peer.dead.empty()) peer = Peer{.incarnation = peer.incarnation, .dead = error.message};
    }
  }
  complete(done);
}

void Peers::complete(const Completions& done) {
  for (const auto& [state, result] : done) state->complete(result);
}

}  // namespace rt::detail
