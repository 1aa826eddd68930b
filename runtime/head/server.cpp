#include "rt/runtime/head/server.h"

#include "rt/runtime/base/crash_point.h"
#include "rt/runtime/base/journal.h"
#include "rt/runtime/base/log.h"
#include "rt/runtime/wire/message.h"

namespace rt {
namespace {

// A journal record: who sent it, then the message.
std::string record_of(Origin from, std::string_view control) {
  std::string record(reinterpret_cast<const char*>(&from.client), sizeof from.client);
  const std::uint64_t node = from.node;
  record.append(reinterpret_cast<const char*>(&node), sizeof node);
  return record.append(control);
}

}  // namespace

struct HeadServer::Parts {
  Parts(boost::asio::io_context& io_context, OpenedJournal opened)
      : io(io_context), journal(std::move(opened.journal)), head(opened.term) {}

  // One agent's connection. Its node is known once the head has answered its registration.
  void welcome(std::shared_ptr<Transport> agent) {
    const auto node = std::make_shared<NodeId>(0);
    agent->start({.on_frame = [this, agent, node](const Frame& frame) { on_frame(agent, *node, frame); },
                  .on_close =
                      [this, node](const Error&) {
                        if (*node == 0) return;
                        nodes.erase(*node);
                        log::info("node {} is gone", *node);
                        send(head.node_lost(*node));
                      }});
  }

  void on_frame(const std::shared_ptr<Transport>& agent, NodeId& node, const Frame& frame) {
    const Origin from{node, frame.route};
    if (Head::is_journalled(frame.body)) {
      RT_CRASH_POINT("head.before_append");
      const Status kept = journal->append(record_of(from, frame.body));
      if (!kept) return refuse(agent, frame, kept.error());
    }
    RT_CRASH_POINT("head.after_append");
    auto answers = head.handle(from, frame.body);
    if (!answers) {
      log::error("node {} sent {}: its connection is closed", node, answers.error().message);
      return agent->close();
    }
    if (node == 0 && !answers->empty() && answers->front().to.node != 0) {
      node = answers->front().to.node;
      nodes[node] = agent;
    }
    send(*answers);
  }

  void refuse(const std::shared_ptr<Transport>& agent, const Frame& frame, const Error& error) {
    log::error("the head's journal refused a message: {}", error.message);
    std::uint64_t request = 0;
    (void)wire::with_message<wire::Control>(frame.body, [&](auto control) { request = control.getRequest(); });
    capnp::MallocMessageBuilder builder;
    auto control = builder.initRoot<wire::Control>();
    control.setRequest(request);
    control.initReply().initError().setCode(static_cast<std::uint16_t>(error.code));
    control.getReply().getError().setMessage("the head can't write its journal: " + error.message);
    if (request != 0) (void)agent->send(FrameType::Control, frame.route, wire::to_bytes(builder));
  }

  void send(const std::vector<Outgoing>& messages) {
    for (const Outgoing& message : messages)
      if (const auto it = nodes.find(message.to.node); it != nodes.end())
        (void)it->second->send(FrameType::Control, message.to.client, message.bytes);  // a failure shows as on_close
  }

  boost::asio::io_context& io;
  std::unique_ptr<Journal> journal;
  Head head;
  std::map<NodeId, std::shared_ptr<Transport>> nodes;
  std::unique_ptr<UnixListener> listener;
  std::shared_ptr<Transport> driver;
};

HeadServer::HeadServer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
HeadServer::~HeadServer() = default;

Result<std::unique_ptr<HeadServer>> HeadServer::open(boost::asio::io_context& io, HeadOptions options) {
  RT_TRY(journal, open_journal(options.run_folder + "/head-journal"));
  auto parts = std::make_unique<Parts>(io, std::move(journal));
  Parts* const server = parts.get();
  RT_TRY(listener, UnixListener::open(io, options.run_folder + "/head.sock",
                                      [server](std::shared_ptr<Transport> agent) { server->welcome(std::move(agent)); }));
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
