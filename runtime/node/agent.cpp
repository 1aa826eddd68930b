#include "rt/runtime/node/agent.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rt/runtime/base/process.h"
#include "rt/runtime/node/process_tree.h"
#include "rt/runtime/wire/message.h"

namespace rt {

using wire::Control;
using wire::text;

template <class Fill>
void Agent::send_head(Fill&& fill) {
  capnp::MallocMessageBuilder builder;
  fill(builder.initRoot<Control>());
  (void)head_->send(FrameType::Control, 0, wire::to_bytes(builder));  // a failure shows as the head's on_close
}

Agent::Agent(boost::asio::io_context& io, AgentOptions options) : io_(io), options_(std::move(options)) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

Status Agent::start() {
  for (const char* folder : {"/actors", "/logs"}) ::mkdir((options_.run_folder + folder).c_str(), 0700);
  RT_TRY(head, connect_unix(io_, options_.run_folder + "/head.sock"));
  head_ = std::move(head);
  head_->start({.on_frame = [this](const Frame& frame) { on_head_frame(frame); },
                .on_close = [this](const Error&) { stop(); }});
  RT_TRY(listener, UnixListener::open(io_, options_.run_folder + "/node.sock",
                                      [this](std::shared_ptr<Transport> client) { welcome(std::move(client)); }));
  listener_ = std::move(listener);
  send_head([&](Control::Builder control) {
    control.setRequest(1);
    auto facts = control.initRegisterNode();
    char name[256] = "node";
    ::gethostname(name, sizeof name - 1);
    facts.setVersion(wire::PROTOCOL_VERSION);
    facts.setName(name);
    facts.setPid(static_cast<std::uint32_t>(::getpid()));
    auto cores = facts.initCores(static_cast<unsigned>(options_.cores.size()));
    for (unsigned i = 0; i < options_.cores.size(); ++i) cores.set(i, options_.cores[i]);
    auto gpus = facts.initGpus(static_cast<unsigned>(options_.gpus.size()));
    for (unsigned i = 0; i < options_.gpus.size(); ++i) gpus.set(i, options_.gpus[i]);
  });
  return Unit{};
}

void Agent::stop() {
  for (const auto& [actor, worker] : workers_)
    if (worker.pid > 0) kill_tree(worker.pid);
  fork_servers_.clear();
  kill_orphans({});
  (void)kill_marked(options_.mark, std::chrono::seconds(5));
  io_.stop();
}

// --- clients -----------------------------------------------------------------------------------------------------

void Agent::welcome(std::shared_ptr<Transport> transport) {
  // The handlers hold the connection until it closes. A client's first frame says who it is; the rest goes up unread.
  const auto client = std::make_shared<ClientId>(0);
  transport->start({.on_frame =
                        [this, transport, client](const Frame& frame) {
                          if (*client != 0) return on_client_frame(*client, frame);
                          const Status read = wire::with_message<Control>(
                              frame.body, [&](Control::Reader control) { *client = on_hello(transport, control); });
                          if (!read) transport->close();
                        },
                    .on_close =
                        [this, client](const Error&) {
                          if (*client != 0) on_client_closed(*client);
                        }});
}

void Agent::refuse_hello(const std::shared_ptr<Transport>& transport, Control::Reader control) {
  capnp::MallocMessageBuilder builder;
  auto answer = builder.initRoot<Control>();
  answer.setRequest(control.getRequest());
  auto error = answer.initReply().initError();
  error.setCode(static_cast<std::uint16_t>(Code::Refused));
  error.setMessage("this rt speaks protocol " + std::to_string(static_cast<std::uint32_t>(wire::PROTOCOL_VERSION)) +
                   ", the program " +
                   (control.isHello() ? std::to_string(control.getHello().getVersion()) : std::string("another language")) +
                   "; build it again");
  (void)transport->send(FrameType::Control, 0, wire::to_bytes(builder));
}

Agent::ClientId Agent::on_hello(const std::shared_ptr<Transport>& transport, Control::Reader control) {
  if (!control.isHello() || control.getHello().getVersion() != wire::PROTOCOL_VERSION) {
    refuse_hello(transport, control);
    return 0;
  }
  const auto hello = control.getHello();
  const ClientId client = next_client_++;
  clients_[client] = transport;
  capnp::MallocMessageBuilder builder;
  auto answer = builder.initRoot<Control>();
  answer.setRequest(control.getRequest());
  auto reply = answer.initReply().initHello();
  reply.setClient(client);
  reply.setNode(node_);
  reply.setRunFolder(options_.run_folder);
  (void)transport->send(FrameType::Control, 0, wire::to_bytes(builder));
  if (hello.getRole() != wire::Hello::Role::WORKER) return client;

  if (const auto it = workers_.find(hello.getActor()); it != workers_.end()) it->second.address = text(hello.getAddress());
  send_head([&](Control::Builder up) {
    auto started = up.initWorkerStarted();
    started.setActor(hello.getActor());
    started.setIncarnation(hello.getIncarnation());
    started.setAddress(hello.getAddress());
    started.setPid(hello.getPid());
    started.setClient(client);
  });
  return client;
}

void Agent::on_client_frame(ClientId client, const Frame& frame) {
  (void)head_->send(FrameType::Control, client, frame.body);
}

void Agent::on_client_closed(ClientId client) {
  clients_.erase(client);
  if (client == driver_) return stop();
  send_head([&](Control::Builder control) { control.setClientLeft(client); });
}

// --- the head ----------------------------------------------------------------------------------------------------

void Agent::on_head_frame(const Frame& frame) {
  if (frame.route != 0) {
    const auto it = clients_.find(frame.route);
    if (it != clients_.end()) (void)it->second->send(FrameType::Control, 0, frame.body);
    return;
  }
  const Status read = wire::with_message<Control>(frame.body, [&](Control::Reader control) {
    if (control.isStartWorker()) return start_worker(control.getStartWorker());
    if (control.isKillWorker())
      return kill_worker(control.getKillWorker().getActor(), control.getKillWorker().getIncarnation());
    if (!control.isReply() || !control.getReply().isNode()) return;
    node_ = control.getReply().getNode().getNode();
    next_client_ = control.getReply().getNode().getFirstClient();
    if (options_.driver_fd >= 0) {
      driver_ = next_client_;
      welcome(make_unix_transport(io_, options_.driver_fd));
    }
  });
  if (!read) stop();
}

}  // namespace rt
