#include "rt/actors/peers.h"

#include <cstring>

#include "rt/runtime/net/unix_socket.h"
#include "rt/runtime/wire/call.h"

namespace rt::detail {
namespace {

Result<std::string> result_of(const wire::CallHeader& header, std::string_view body, const std::string& method) {
  const std::string text(body);
  if (header.size != body.size())
    return Error{Code::Corrupt, "the reply to " + method + " has " + std::to_string(body.size()) +
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
    if (!peer.dead.empty()) {
      done.emplace_back(state, Error{Code::NotSent, "the actor is dead: " + peer.dead});
    } else {
      peer.queued.push_back({next_sequence_++, std::string(method), std::move(arguments), state});
      flush(actor, peer, done);
    }
  }
  if (is_new) watch_(actor);
  complete(done);
  return state;
}

// Under the lock. What can't be sent because the actor just died stays, and waits for the news of it.
void Peers::flush(ActorId actor, Peer& peer, Completions& done) {
  while (peer.started && !peer.queued.empty()) {
    Call& call = peer.queued.front();
    Status sent = peer.transport ? Status(Unit{}) : connect(actor, peer);
    if (sent) sent = send(actor, peer, call);
    if (!sent && sent.error().code == Code::NotSent) return;
    if (sent) {
      call.arguments = {};
      const std::uint64_t sequence = call.sequence;
      peer.sent.emplace(sequence, std::move(call));
    } else {
      done.emplace_back(call.state, sent.error());
    }
    peer.queued.pop_front();
  }
}

Status Peers::send(ActorId actor, Peer& peer, const Call& call) {
  const wire::CallHeader header{.actor = actor,
                                .incarnation = peer.incarnation,
                                .sequence = call.sequence,
                                .method = wire::method_hash(call.method),
                                .size = call.arguments.size()};
  return peer.transport->send(FrameType::Call, 0, {reinterpret_cast<const char*>(&header), sizeof header},
                              call.arguments);
}

Status Peers::connect(ActorId actor, Peer& peer) {
  RT_TRY(transport, connect_unix(io_, peer.address));
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
    const auto it = peer.sent.find(header.sequence);
    if (it == peer.sent.end()) return;
    done.emplace_back(it->second.state, result_of(header, frame.body.substr(sizeof header), it->second.method));
    peer.sent.erase(it);
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
  for (auto& [sequence, call] : std::exchange(peer.sent, {}))
    done.emplace_back(call.state, Error{Code::MaybeRan, what + call.method + ": " + why});
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
    end_sent(peer, "the actor died under the call of ", why + lines, done);
    if (peer.transport) peer.transport->close();
    peer.transport = nullptr;
    peer.started = false;
    if (!death.will_restart) {
      for (Call& call : std::exchange(peer.queued, {}))
        done.emplace_back(
            call.state, Error{Code::NotSent, "the actor died before the call of " + call.method + ": " + why + lines});
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
      for (auto& [sequence, call] : peer.sent) done.emplace_back(call.state, Error{Code::MaybeRan, error.message});
      for (Call& call : peer.queued) done.emplace_back(call.state, Error{Code::NotSent, error.message});
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
