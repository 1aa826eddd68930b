#include "rt/actors/peers.h"

#include <cstring>

#include "rt/runtime/net/unix_socket.h"
#include "rt/runtime/wire/call.h"

namespace rt::detail {

Peers::Peers(boost::asio::io_context& io, void* context, std::function<void(ActorId)> watch)
    : io_(io), context_(context), watch_(std::move(watch)) {}

void Peers::expect(ActorId actor) {
  const std::lock_guard lock(mutex_);
  peers_[actor];
}

std::shared_ptr<CallState> Peers::call(ActorId actor, std::string_view method, std::string arguments) {
  auto state = std::make_shared<CallState>(context_);
  Completions done;
  bool is_new = false;
  {
    const std::lock_guard lock(mutex_);
    const auto [it, inserted] = peers_.try_emplace(actor);
    is_new = inserted;
    Peer& peer = it->second;
    Call call{next_sequence_++, std::string(method), std::move(arguments), state};
    if (!peer.dead.empty()) done.emplace_back(state, Error{Code::NotSent, "the actor is dead: " + peer.dead});
    else if (!peer.started) peer.queued.push_back(std::move(call));
    else send(actor, peer, std::move(call), done);
  }
  if (is_new) watch_(actor);
  complete(done);
  return state;
}

// Under the lock. A call that can't be sent because the actor just died waits for the news of it.
void Peers::send(ActorId actor, Peer& peer, Call call, Completions& done) {
  if (!peer.transport && !connect(actor, peer)) {
    peer.queued.push_back(std::move(call));
    return;
  }
  const wire::CallHeader header{.actor = actor,
                                .incarnation = peer.incarnation,
                                .sequence = call.sequence,
                                .method = wire::method_hash(call.method),
                                .size = call.arguments.size()};
  const Status sent = peer.transport->send(FrameType::Call, 0, {reinterpret_cast<const char*>(&header), sizeof header},
                                           call.arguments);
  if (!sent && sent.error().code == Code::NotSent) {
    peer.queued.push_back(std::move(call));
  } else if (!sent) {
    done.emplace_back(call.state, sent.error());
  } else {
    call.arguments.clear();
    peer.sent.emplace(call.sequence, std::move(call));
  }
}

Status Peers::connect(ActorId actor, Peer& peer) {
  RT_TRY(transport, connect_unix(io_, peer.address));
  transport->start({.on_frame = [this, actor](const Frame& frame) { on_reply(actor, frame); },
                    .on_close = [this, actor, incarnation = peer.incarnation](const Error&) {
                      on_closed(actor, incarnation);
                    }});
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
    for (Call& call : std::exchange(peer.queued, {})) send(actor, peer, std::move(call), done);
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
    const auto it = peer.sent.find(header.sequence);
    if (it == peer.sent.end()) return;
    const std::string body(frame.body.substr(sizeof header));
    switch (header.outcome) {
      case wire::Outcome::Returned: done.emplace_back(it->second.state, body); break;
      case wire::Outcome::Threw: done.emplace_back(it->second.state, Error{Code::Failed, body}); break;
      case wire::Outcome::UnknownMethod:
        done.emplace_back(it->second.state,
                          Error{Code::NotFound, "the actor's program has no method " + it->second.method + "; " + body});
        break;
      case wire::Outcome::Full: done.emplace_back(it->second.state, Error{Code::Unavailable, body}); break;
    }
    peer.sent.erase(it);
  }
  complete(done);
}

// What was under way is completed by the death notice that follows.
void Peers::on_closed(ActorId actor, std::uint32_t incarnation) {
  const std::lock_guard lock(mutex_);
  Peer& peer = peers_[actor];
  if (peer.incarnation == incarnation) peer.transport = nullptr;
}

void Peers::on_died(const ActorDeath& death) {
  Completions done;
  {
    const std::lock_guard lock(mutex_);
    Peer& peer = peers_[death.actor];
    if (!peer.dead.empty() || death.incarnation < peer.incarnation) return;
    std::string why = death.cause.empty() ? "unknown cause" : death.cause;
    if (death.killed) why = "it was killed as asked";
    const std::string lines = death.last_lines.empty() ? "" : "\nits last lines:\n" + death.last_lines;
    for (auto& [sequence, call] : peer.sent)
      done.emplace_back(call.state, Error{Code::MaybeRan, "the actor died under the call of " + call.method + ": " + why + lines});
    peer.sent.clear();
    if (peer.transport) peer.transport->close();
    peer.transport = nullptr;
    peer.started = false;
    if (!death.will_restart) {
      peer.dead = why;
      for (Call& call : std::exchange(peer.queued, {}))
        done.emplace_back(call.state, Error{Code::NotSent, "the actor died before the call of " + call.method + ": " + why + lines});
    }
  }
  complete(done);
}

void Peers::fail_all(const Error& error) {
  Completions done;
  {
    const std::lock_guard lock(mutex_);
    for (auto& [actor, peer] : peers_) {
      for (auto& [sequence, call] : peer.sent) done.emplace_back(call.state, Error{Code::MaybeRan, error.message});
      for (Call& call : peer.queued) done.emplace_back(call.state, Error{Code::NotSent, error.message});
      if (peer.transport) peer.transport->close();
      peer = Peer{.incarnation = peer.incarnation, .dead = error.message};
    }
  }
  complete(done);
}

void Peers::complete(const Completions& done) {
  for (const auto& [state, result] : done) state->complete(result);
}

}  // namespace rt::detail
