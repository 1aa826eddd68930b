#include "rt/runtime/head/server.h"

#include <boost/asio/steady_timer.hpp>

#include "rt/runtime/base/clock.h"
#include "rt/runtime/base/crash_point.h"
#include "rt/runtime/base/journal.h"
#include "rt/runtime/base/log.h"
#include "rt/runtime/head/record.h"
#include "rt/runtime/wire/message.h"

namespace rt {
struct HeadServer::Parts {
  Parts(boost::asio::io_context& io_context, OpenedJournal opened)
      : io(io_context), journal(std::move(opened.journal)), head(opened.term), timer(io_context) {}

  HeadTime now() const { return std::chrono::duration_cast<HeadTime>(SystemClock().now() - started); }

  // The passing of time is an event like any other: in the journal before it has an effect.
  void wait_for_tick() {
    const std::optional<HeadTime> next = head.next_tick();
    if (next == awaited) return;
    awaited = next;
    timer.cancel();
    if (!next) return;
    timer.expires_at(started + *next);
    timer.async_wait([this](const boost::system::error_code& error) {
      if (error) return;
      awaited.reset();
      capnp::MallocMessageBuilder builder;
      builder.initRoot<wire::Control>().setTick();
      const std::string tick = wire::to_bytes(builder);
      const HeadTime time = now();
      if (const Status kept = journal->append(head_record({}, tick, time)); !kept) return end(kept.error());
      if (const auto answers = head.handle({}, tick, time)) send(*answers);
      wait_for_tick();
    });
  }

  // One agent's connection. Its node is known once the head has answered its registration.
  void welcome(const std::shared_ptr<Transport>& agent) {
    const auto node = std::make_shared<NodeId>(0);
    agent->start({.on_frame =
                      [this, agent = std::weak_ptr(agent), node](const Frame& frame) {
                        if (const auto connection = agent.lock()) on_frame(connection, *node, frame);
                      },
                  .on_close = [this, node](const Error& error) { lose(*node, error); }});
  }

  void on_frame(const std::shared_ptr<Transport>& agent, NodeId& node, const Frame& frame) {
    const Origin from{node, frame.route};
    const HeadTime time = now();
    if (Head::is_journalled(frame.body)) {
      RT_CRASH_POINT("head.before_append");
      const Status kept = journal->append(head_record(from, frame.body, time));
      if (!kept) return refuse(agent, frame, kept.error());
    }
    RT_CRASH_POINT("head.after_append");
    auto answers = head.handle(from, frame.body, time);
    if (!answers && from.client != 0) return drop(agent, from, answers.error());
    if (!answers) {
      agent->close();
      return lose(node, answers.error());
    }
    if (node == 0 && !answers->empty() && answers->front().to.node != 0) {
      node = answers->front().to.node;
      nodes[node] = agent;
    }
    for (const Outgoing& message : *answers)
      if (message.to.node == 0) (void)agent->send(FrameType::Control, message.to.client, message.bytes);  // a refusal
    send(*answers);
    wait_for_tick();
  }

  // A client that sends damaged bytes loses its own connection, not its node's.
  void drop(const std::shared_ptr<Transport>& agent, Origin from, const Error& error) {
    log::warning("client {} on node {} sent damaged bytes and is dropped, the {}. so far: {}", from.client, from.node,
                 ++dropped_clients, error.message);
    capnp::MallocMessageBuilder builder;
    builder.initRoot<wire::Control>().setDropClient(from.client);
    (void)agent->send(FrameType::Control, 0, wire::to_bytes(builder));
  }

  void lose(NodeId node, const Error& error) {
    if (node == 0 || nodes.erase(node) == 0) return;
    log::info("node {} is gone: {}", node, error.message);
    capnp::MallocMessageBuilder builder;
    builder.initRoot<wire::Control>().setClientLeft(0);
    const std::string left = wire::to_bytes(builder);
    if (const Status kept = journal->append(head_record({node, 0}, left, now())); !kept) return end(kept.error());
    if (const auto answers = head.handle({node, 0}, left, now())) send(*answers);
    wait_for_tick();
  }

  // A request is refused; news can't be, and a head that forgot it would hold what is free for ever.
  void refuse(const std::shared_ptr<Transport>& agent, const Frame& frame, const Error& error) {
    std::uint64_t request = 0;
    (void)wire::with_message<wire::Control>(frame.body, [&](auto control) { request = control.getRequest(); });
    if (request == 0) return end(error);
    log::error("the head's journal refused a message: {}", error.message);
    capnp::MallocMessageBuilder builder;
    auto control = builder.initRoot<wire::Control>();
    control.setRequest(request);
    control.initReply().initError().setCode(static_cast<std::uint16_t>(error.code));
    control.getReply().getError().setMessage("the head can't write its journal: " + error.message);
    (void)agent->send(FrameType::Control, frame.route, wire::to_bytes(builder));
  }

  void end(const Error& error) {
    log::error("the head ends, as it can't write its journal: {}", error.message);
    io.stop();
  }

  void send(const std::vector<Outgoing>& messages) {
    for (const Outgoing& message : messages) {
      const auto it = nodes.find(message.to.node);
      if (it == nodes.end()) continue;
      const Status sent = it->second->send(FrameType::Control, message.to.client, message.bytes);
      if (!sent && sent.error().code == Code::Unavailable) stuck.insert(message.to.node);  // else it shows as on_close
    }
    for (const NodeId node : std::exchange(stuck, {})) {
      if (nodes.count(node) == 0) continue;
      nodes.at(node)->close();
      lose(node, {Code::Unavailable, "it doesn't read what the head sends"});
    }
  }

  boost::asio::io_context& io;
  std::unique_ptr<Journal> journal;
  Head head;
  const TimePoint started = SystemClock().now();
  boost::asio::steady_timer timer;
  std::optional<HeadTime> awaited;  // what the timer waits for
  std::map<NodeId, std::shared_ptr<Transport>> nodes;
  std::set<NodeId> stuck;  // to be closed once all has been sent
  int dropped_clients = 0;
  std::unique_ptr<UnixListener> listener;
  std::shared_ptr<Transport> driver;
};

HeadServer::HeadServer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
HeadServer::~HeadServer() = default;

Result<std::unique_ptr<HeadServer>> HeadServer::open(boost::asio::io_context& io, HeadOptions options) {
  RT_TRY(journal, open_journal(options.run_folder + "/head-journal"));
  auto parts = std::make_unique<Parts>(io, std::move(journal));
  Parts* const server = parts.get();
  RT_TRY(listener, UnixListener::open(io, options.run_folder + "/head.sock", [server, &io](Fd agent) {
           server->welcome(make_unix_transport(io, agent.release()));
         }));
  parts->listener = std::move(listener);
  if (options.driver_fd >= 0) {
    parts->driver = make_unix_transport(io, options.driver_fd);
    parts->driver->start({.on_frame = [](const Frame&) {}, .on_close = [&io](const Error&) { io.stop(); }});
    capnp::MallocMessageBuilder listening;
    listening.initRoot<wire::Control>().initReply().setDone();
    RT_CHECK(parts->driver->send(FrameType::Control, 0, wire::to_bytes(listening)));
  }
  return std::unique_ptr<HeadServer>(new HeadServer(std::move(parts)));
}

}  // namespace rt
