// How calls end without an answer: their actor dies, its connection closes, their deadline passes, their caller gives
// up.
#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "rt/actors/peers.h"

namespace rt::detail {

// What was under way is ended by the death notice: a worker closes a connection only by dying. One that sent what is no
// frame may live on, and no notice would come.
void Peers::on_closed(const std::shared_ptr<Connection>& connection, const Error& error) {
  Completions done;
  {
    const std::lock_guard lock(mutex_);
    if (connection->transport) store_.closed(connection->transport->peer_pid());
    connection->transport = nullptr;
    if (error.code == Code::Corrupt) {
      for (auto& [actor, peer] : peers_)
        if (peer.connection == connection) peer.connection = nullptr;
      for (Sent& call : std::exchange(connection->sent, {}))
        if (call.state)
          done.emplace_back(answered(call),
                            Error{Code::MaybeRan, "the connection was closed under the call of " +
                                                      std::string(call.method.text) + ": " + error.message});
    }
    for (const Verdict& verdict : std::exchange(connection->verdicts, {})) end_sent(*connection, verdict, done);
    forget_if_over(*connection);
  }
  complete(done);
}

void Peers::forget_if_over(Connection& connection) {
  const auto known = connections_.find(connection.address);
  if (!connection.transport && connection.sent.empty() && known != connections_.end() &&
      known->second.get() == &connection)
    connections_.erase(known);
}

// Those that may run again wait for the actor's next incarnation, in their order and before what waits already.
void Peers::end_sent(Connection& connection, const Verdict& verdict, Completions& done) {
  std::deque<Waiting> again;
  for (Sent& call : connection.sent) {
    if (!call.state || call.actor != verdict.actor || call.incarnation > verdict.incarnation) continue;
    if (verdict.will_restart && call.arguments && call.attempts < kMostAttempts) {
      call.state->route = {call.actor, 0};
      again.push_back({call.method, std::move(call.state), call.deadline, std::move(*call.arguments), call.is_counted,
                       call.attempts, std::move(call.objects)});
      continue;
    }
    done.emplace_back(answered(call), Error{Code::MaybeRan, "the actor died under the call of " +
                                                                std::string(call.method.text) + ": " + verdict.why});
  }
  drop_answered(connection);
  if (again.empty()) return;
  Peer& peer = peers_[verdict.actor];
  if (!peer.dead.empty()) {
    for (Waiting& call : again)
      done.emplace_back(std::move(call.state),
                        Error{Code::MaybeRan, "the actor died under the call of " + std::string(call.method.text) +
                                                  ", and " + "again before it was repeated: " + peer.dead});
    return;
  }
  for (const Waiting& call : again) peer.queued_bytes += sizeof(wire::CallHeader) + call.arguments.size();
  peer.queued.insert(peer.queued.begin(), std::make_move_iterator(again.begin()), std::make_move_iterator(again.end()));
  flush(verdict.actor, peer, done);
}

// The connection may be to another incarnation than the call went to.
bool Peers::is_under_way(const Connection& connection, const CallState& state) {
  const std::uint64_t place = state.route.sequence - connection.first_sent;
  return place < connection.sent.size() && connection.sent[place].state.get() == &state;
}

// Under the lock: a word more about a call that was sent.
void Peers::tell(const Peer& peer, const CallState& state, FrameType type, std::uint64_t word, std::string_view body) {
  if (!peer.connection || !peer.connection->transport || !is_under_way(*peer.connection, state)) return;
  const wire::CallHeader header{.method = word, .sequence = state.route.sequence, .incarnation = peer.incarnation};
  (void)peer.connection->transport->send(type, state.route.actor,
                                         {reinterpret_cast<const char*>(&header), sizeof header}, body);
  if (type == FrameType::Cancel) peer.connection->transport->alert();
}

void Peers::grant(CallState& state, std::uint32_t items) {
  const std::lock_guard lock(mutex_);
  if (const auto it = peers_.find(state.route.actor); it != peers_.end())
    tell(it->second, state, FrameType::Grant, items);
}

void Peers::probe(CallState& state, Probe probe) {
  const std::lock_guard lock(mutex_);
  const auto it = peers_.find(state.route.actor);
  if (it == peers_.end() || !it->second.connection || !is_under_way(*it->second.connection, state)) return;
  const Connection& connection = *it->second.connection;
  probe.hops.back().method = connection.sent[state.route.sequence - connection.first_sent].method.text;
  Encoder body;
  encode(body, probe);
  tell(it->second, state, FrameType::Probe, 0, body.bytes());
}

// A call that waits here doesn't run any more; one that was sent is given up by its actor, which answers it.
void Peers::cancel(CallState& state) {
  StatePtr not_sent;
  {
    const std::lock_guard lock(mutex_);
    const auto it = peers_.find(state.route.actor);
    if (it == peers_.end()) return;
    Peer& peer = it->second;
    const auto waiting = std::find_if(peer.queued.begin(), peer.queued.end(),
                                      [&](const Waiting& call) { return call.state.get() == &state; });
    if (waiting != peer.queued.end()) {
      not_sent = std::move(waiting->state);
      peer.queued_bytes -= sizeof(wire::CallHeader) + waiting->arguments.size();
      if (waiting->is_counted) uncount(state.route.actor);
      peer.queued.erase(waiting);
    } else {
      tell(peer, state, FrameType::Cancel, 0);
    }
  }
  if (not_sent) not_sent->fail({Code::Cancelled, "the call was cancelled before it was sent"});
}

// --- deadlines: looked for among the calls under way when the first of them may have passed
// ---------------------------

void Peers::watch_deadline(TimePoint deadline) {
  next_deadline_ = deadline;
  boost::asio::post(io_, [this, deadline] {
    timer_.expires_at(deadline);
    timer_.async_wait([this](const boost::system::error_code& error) {
      if (!error) on_deadline();
    });
  });
}

void Peers::on_deadline() {
  std::vector<StatePtr> due;
  {
    const std::lock_guard lock(mutex_);
    const TimePoint now = SystemClock().now();
    TimePoint next = kNever;
    const auto look = [&](const auto& calls) {
      for (const auto& call : calls) {
        if (!call.state) continue;
        if (call.deadline <= now)
          due.push_back(call.state);
        else
          next = std::min(next, call.deadline);
      }
    };
    for (const auto& [actor, peer] : peers_) look(peer.queued);
    for (const auto& [address, connection] : connections_) look(connection->sent);
    next_deadline_ = kNever;
    if (next != kNever) watch_deadline(std::max(next, now + std::chrono::milliseconds(1)));
  }
  for (const StatePtr& state : due) {
    state->fail({Code::Deadline, "the call's deadline has passed"});
    cancel(*state);
  }
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
      const Verdict verdict{death.actor, death.incarnation, death.will_restart, why + lines};
      if (connection->transport) {
        connection->verdicts.push_back(verdict);
        connection->transport->peer_is_dead();
      } else {
        end_sent(*connection, verdict, done);
        forget_if_over(*connection);
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
    for (auto& [address, connection] : connections_) {
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

void Peers::give_up(CallState& state, const Error& error) { state.give_up(error); }

std::vector<CallUnderWay> Peers::under_way() {
  std::vector<CallUnderWay> all;
  const std::lock_guard lock(mutex_);
  for (const auto& [address, connection] : connections_)
    for (const Sent& call : connection->sent)
      if (call.state) all.push_back({call.actor, call.method.text, call.state});
  for (const auto& [actor, peer] : peers_)
    for (const Waiting& call : peer.queued)
      if (call.state) all.push_back({actor, call.method.text, call.state});
  return all;
}

}  // namespace rt::detail
