#include "rt/actors/peers.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <cstring>

#include "rt/runtime/net/ring_poller.h"
#include "rt/runtime/net/ring_transport.h"
#include "rt/runtime/net/unix_socket.h"
#include "rt/runtime/wire/call.h"

namespace rt::detail {
namespace {

void fail(CallState& state, wire::Outcome outcome, std::string_view body, std::string_view name) {
  const std::string method(name);
  switch (outcome) {
    case wire::Outcome::Returned:
    case wire::Outcome::Item: break;
    case wire::Outcome::Threw: {
      const Result<Thrown> thrown = decode_thrown(body);
      return thrown ? state.fail({Code::Failed, thrown->text}, body) : state.fail(thrown.error());
    }
    case wire::Outcome::UnknownMethod:
      return state.fail({Code::NotFound, "the actor's program has no method " + method + "; was it built again?"});
    case wire::Outcome::WrongClass:
      return state.fail({Code::Invalid, "the actor is no object of the class that " + method + " is called on"});
    case wire::Outcome::Lost: return state.fail({Code::Lost, std::string(body)});
    case wire::Outcome::Cancelled: return state.fail({Code::Cancelled, "the call of " + method + " was cancelled"});
    case wire::Outcome::Expired:
      return state.fail({Code::Deadline, "the deadline of the call of " + method + " had passed before it began"});
  }
  state.fail({Code::Corrupt, "the reply to " + method + " has the unknown outcome " +
                                 std::to_string(static_cast<std::uint32_t>(outcome))});
}

constexpr std::size_t kMostQueued = std::size_t{64} << 20;  // bytes for one process, before its callers have to wait

std::int64_t on_the_wire(TimePoint deadline) {
  return deadline == TimePoint::max()
             ? 0
             : std::chrono::duration_cast<std::chrono::nanoseconds>(deadline.time_since_epoch()).count();
}

}  // namespace

Peers::Peers(boost::asio::io_context& io, void* context, std::function<void(ActorId)> watch, Connect connect)
    : io_(io),
      poller_(RingPoller::of(io)),
      store_(ProcessStore::of(io)),
      context_(context),
      watch_(std::move(watch)),
      connect_(connect ? std::move(connect) : [&io](const std::string& address) -> Result<std::shared_ptr<Transport>> {
        RT_TRY(socket, connect_unix_socket(address));
        return make_ring_transport(io, socket.release(), RingSide::Connecting, {.max_queue = kMostQueued});
      }),
      timer_(io),
      flush_timer_(io) {}

void Peers::expect(ActorId actor, const CallLimits& limits) {
  const std::lock_guard lock(mutex_);
  peers_[actor].limits = limits;
}

std::shared_ptr<CallState> Peers::call(ActorId actor, wire::MethodName method, std::string_view arguments,
                                       CallTerms terms) {
  auto state = std::make_shared<CallState>(poller_, context_, this, std::move(terms.sink));
  const TimePoint deadline = terms.deadline.count() > 0 ? SystemClock().now() + terms.deadline : kNever;
  if (const Status sent = submit(actor, {method, state, deadline, arguments, false, 0, terms.objects}); !sent)
    state->fail(sent.error());
  return state;
}

Status Peers::send(ActorId actor, wire::MethodName method, std::string_view arguments, CallTerms terms) {
  return submit(actor, {method, nullptr, kNever, arguments, false, 0, terms.objects});
}

// An error: it wasn't sent, and never will be.
Status Peers::submit(ActorId actor, Message message) {
  Status sent = submit_now(actor, message);
  if (sent || sent.error().code != Code::Unavailable) return sent;
  if (RingPoller::polls_here() || io_.get_executor().running_in_this_thread()) return sent;  // who empties the rings
  const TimePoint until = std::min(message.deadline, SystemClock().now() + kPatience);
  while (!sent && sent.error().code == Code::Unavailable && SystemClock().now() < until) {
    wait_for_room(until);
    sent = submit_now(actor, message);
  }
  return sent;
}

// Room for a call's bytes is found by looking: this thread reads and writes the rings meanwhile.
void Peers::wait_for_room(TimePoint until) {
  Waiter waiter;
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(&waiter);
  }
  poller_.wait(waiter, std::min(until, SystemClock().now() + std::chrono::milliseconds(1)));
  const std::lock_guard lock(mutex_);
  std::erase(waiting_, &waiter);
}

Status Peers::submit_now(ActorId actor, Message& message) {
  Completions done;
  bool is_new = false;
  {
    const std::lock_guard lock(mutex_);
    const auto [it, inserted] = peers_.try_emplace(actor);
    is_new = inserted;
    Peer& peer = it->second;
    if (!peer.dead.empty()) return Error{Code::NotSent, "the actor is dead: " + peer.dead};
    if (message.state && message.deadline == kNever && peer.limits.deadline.count() > 0)
      message.deadline = SystemClock().now() + peer.limits.deadline;
    message.is_counted = message.state && peer.limits.most_pending > 0;
    if (message.is_counted && peer.pending >= peer.limits.most_pending)
      return Error{Code::Unavailable, "the actor hasn't answered " + std::to_string(peer.pending) +
                                          " calls of this process yet, and its max_pending_calls is " +
                                          std::to_string(peer.limits.most_pending)};
    if (message.deadline < next_deadline_) watch_deadline(message.deadline);
    if (peer.connection && peer.queued.empty()) {
      const Status sent = transmit(actor, peer, message);
      if (sent && message.is_counted) ++peer.pending;
      if (sent || sent.error().code != Code::NotSent) return sent;
    }
    const std::size_t bytes = sizeof(wire::CallHeader) + message.arguments.size();
    if (!peer.queued.empty() && peer.queued_bytes + bytes > kMostQueued)
      return Error{Code::Unavailable, "the actor hasn't started, and " + std::to_string(peer.queued_bytes) +
                                          " bytes of calls wait for that"};
    if (message.state) message.state->route = {actor, 0};
    peer.queued_bytes += bytes;
    if (message.is_counted) ++peer.pending;
    peer.queued.push_back({message.method, message.state, message.deadline, std::string(message.arguments),
                           message.is_counted, 0, message.objects ? *message.objects : Attachments()});
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
    if (sent)
      sent = transmit(
          actor, peer,
          {next.method, next.state, next.deadline, next.arguments, next.is_counted, next.attempts, &next.objects});
    if (!sent && sent.error().code == Code::Unavailable) return flush_soon();
    if (!sent && sent.error().code == Code::NotSent) return;
    if (!sent && next.is_counted) uncount(actor);
    peer.queued_bytes -= sizeof(wire::CallHeader) + next.arguments.size();
    if (!sent && next.state) done.emplace_back(next.state, sent.error());
    peer.queued.pop_front();
  }
}

// What waits for room in another actor's way: a process may host several.
void Peers::flush_soon() {
  if (std::exchange(is_to_flush_, true)) return;
  boost::asio::post(io_, [this] {
    flush_timer_.expires_after(std::chrono::milliseconds(1));
    flush_timer_.async_wait([this](const boost::system::error_code& error) {
      if (error) return;
      Completions done;
      {
        const std::lock_guard lock(mutex_);
        is_to_flush_ = false;
        for (auto& [actor, peer] : peers_) flush(actor, peer, done);
      }
      complete(done);
    });
  });
}

// NotSent where the connection has closed.
Status Peers::transmit(ActorId actor, Peer& peer, const Message& message) {
  Connection& connection = *peer.connection;
  if (!connection.transport) return Error{Code::NotSent, "the connection is closed"};
  const wire::CallHeader header{.method = message.method.hash,
                                .sequence = message.state ? connection.first_sent + connection.sent.size() : 0,
                                .deadline_ns = on_the_wire(message.deadline),
                                .incarnation = peer.incarnation};
  if (message.objects && !message.objects->empty())
    RT_CHECK(store_.send(*connection.transport, FrameType::Call, actor, header, message.arguments, *message.objects));
  else
    RT_CHECK(connection.transport->send(FrameType::Call, actor, {reinterpret_cast<const char*>(&header), sizeof header},
                                        message.arguments));
  if (message.method.is_urgent) connection.transport->alert();
  if (!message.state) return Unit{};
  message.state->route = {actor, header.sequence};
  connection.sent.push_back({actor, peer.incarnation, message.is_counted, message.attempts + 1, message.method,
                             message.state, message.deadline,
                             message.method.is_idempotent ? std::make_unique<std::string>(message.arguments) : nullptr,
                             message.method.is_idempotent && message.objects ? *message.objects : Attachments()});
  return Unit{};
}

Status Peers::connect(Peer& peer) {
  if (const auto known = connections_.find(peer.address); known != connections_.end()) {
    if (!known->second->transport) return Error{Code::NotSent, "the connection is closed"};
    peer.connection = known->second;
    return Unit{};
  }
  RT_TRY(transport, connect_(peer.address));
  const auto connection = std::make_shared<Connection>();
  connection->address = peer.address;
  connection->transport = transport;
  transport->start({.on_frame = [this, connection](const Frame& frame) { on_reply(*connection, frame); },
                    .on_close = [this, connection](const Error& error) { on_closed(connection, error); }});
  store_.opened(transport->peer_pid());
  connections_[peer.address] = connection;
  peer.connection = connection;
  return Unit{};
}

void Peers::on_started(ActorId actor, std::uint32_t incarnation, const std::string& address, const CallLimits& limits) {
  Completions done;
  {
    const std::lock_guard lock(mutex_);
    Peer& peer = peers_[actor];
    if (!peer.dead.empty() || (peer.started && incarnation <= peer.incarnation)) return;
    peer.started = true;
    peer.incarnation = incarnation;
    peer.address = address;
    peer.connection = nullptr;
    peer.limits = limits;
    flush(actor, peer, done);
  }
  complete(done);
}

void Peers::on_reply(Connection& connection, const Frame& frame) {
  wire::CallHeader header;
  if (frame.type != FrameType::Reply || frame.body.size() < sizeof header) return;
  std::memcpy(&header, frame.body.data(), sizeof header);
  std::string_view body = frame.body.substr(sizeof header);
  Attachments objects;
  std::optional<Error> incomplete;
  if (header.objects > 0) incomplete = receive_objects(connection, header, body, objects);
  if (frame.objects) objects = *frame.objects;
  StatePtr state;
  std::string_view method;
  {
    const std::lock_guard lock(mutex_);
    if (header.sequence - connection.first_sent >= connection.sent.size()) return;
    Sent& call = connection.sent[header.sequence - connection.first_sent];
    if (!call.state) return;
    state = header.outcome == wire::Outcome::Item ? call.state : answered(call);
    method = call.method.text;
    drop_answered(connection);
  }
  if (incomplete) return state->fail(*std::move(incomplete));
  if (header.outcome == wire::Outcome::Item) {
    if (ItemSink* const sink = state->sink()) sink->take(body);
    return;
  }
  if (header.outcome == wire::Outcome::Returned)
    state->complete(body, std::move(objects));
  else
    fail(*state, header.outcome, body, method);
}

std::optional<Error> Peers::receive_objects(Connection& connection, const wire::CallHeader& header,
                                            std::string_view& body, Attachments& objects) {
  std::shared_ptr<Transport> transport;
  {
    const std::lock_guard lock(mutex_);
    transport = connection.transport;
  }
  if (!transport) return Error{Code::Lost, "the connection was closed before a result's objects were received"};
  const Status received = store_.receive(*transport, header, body, objects);
  return received ? std::nullopt : std::optional(received.error());
}

// Under the lock.
Peers::StatePtr Peers::answered(Sent& call) {
  if (call.is_counted) uncount(call.actor);
  return std::move(call.state);
}

void Peers::uncount(ActorId actor) {
  const auto it = peers_.find(actor);
  if (it == peers_.end() || it->second.pending == 0) return;
  --it->second.pending;
  for (Waiter* const waiter : waiting_) poller_.complete(*waiter);
}

void Peers::drop_answered(Connection& connection) {
  for (; !connection.sent.empty() && !connection.sent.front().state; ++connection.first_sent)
    connection.sent.pop_front();
}

void Peers::complete(const Completions& done) {
  for (const auto& [state, error] : done) state->fail(error);
}

}  // namespace rt::detail
