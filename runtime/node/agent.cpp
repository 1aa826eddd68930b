#include "rt/runtime/node/agent.h"

#include <unistd.h>

#include "rt/runtime/base/files.h"
#include "rt/runtime/base/log.h"
#include "rt/runtime/base/process.h"
#include "rt/runtime/base/process_tree.h"
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

Agent::Agent(boost::asio::io_context& io, AgentOptions options)
    : io_(io),
      options_(std::move(options)),
      ahead_timer_(io),
      store_timer_(io),
      memory_timer_(io),
      oom_kills_(options_.oom_kills()) {}

Status Agent::start() {
  RT_CHECK(adopt_orphans());
  for (const char* folder : {"/actors", "/logs"}) RT_CHECK(make_folders(options_.run_folder + folder));
  make_store();
  RT_TRY(head, connect_unix(io_, options_.run_folder + "/head.sock"));
  head_ = std::move(head);
  head_->start(
      {.on_frame = [this](const Frame& frame) { on_head_frame(frame); }, .on_close = [this](const Error&) { stop(); }});
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
    facts.setMemory(options_.memory);
    auto resources = facts.initResources(static_cast<unsigned>(options_.resources.size()));
    unsigned next = 0;
    for (const auto& [resource, amount] : options_.resources) {
      resources[next].setName(resource);
      resources[next++].setAmount(amount);
    }
  });
  return Unit{};
}

void Agent::stop() {
  constexpr std::chrono::seconds kLimit{10};
  keepers_.clear();  // what they kept falls to this process
  if (const Status killed = kill_descendants({}, kLimit); !killed) log::error("{}", killed.error().message);
  if (const auto marked = kill_marked(options_.mark, kLimit); !marked) log::error("{}", marked.error().message);
  io_.stop();
}

// --- the object store ---------------------------------------------------------------------------------------------

void Agent::make_store() {
  if (options_.object_store == 0) return;
  auto store = store::Sweeper::make(options_.object_store);
  if (!store) return log::warning("this node has no object store, large values are copied: {}", store.error().message);
  store_ = *std::move(store);
  trim_store();
}

// Fresh pages cost ten times a copy: a few are kept for ever, the others for half a minute after their last use.
void Agent::trim_store() {
  constexpr std::chrono::seconds kPeriod{15};
  constexpr std::uint64_t kKept = 64 << 20;
  store_timer_.expires_after(kPeriod);
  store_timer_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    store_->trim(kKept);
    trim_store();
  });
}

// --- clients -----------------------------------------------------------------------------------------------------

// A client's first frame says who it is; the rest goes up unread.
void Agent::welcome(const std::shared_ptr<Transport>& transport, bool is_driver) {
  const auto client = std::make_shared<ClientId>(0);
  transport->start({.on_frame =
                        [this, held = std::weak_ptr(transport), client, is_driver](const Frame& frame) {
                          if (*client != 0) return on_client_frame(*client, frame);
                          const auto connection = held.lock();
                          if (!connection) return;
                          const Status read = wire::with_message<Control>(
                              frame.body, [&](Control::Reader control) { *client = on_hello(connection, control); });
                          if (*client == 0) connection->close();
                          if (!read)
                            log::warning("a connection that began with no hello was closed: {}", read.error().message);
                          if (is_driver) driver_ = *client;
                          if (is_driver && *client == 0) stop();
                        },
                    .on_close =
                        [this, client, is_driver](const Error& error) {
                          if (error.code == Code::Corrupt) log::warning("client {}: {}", *client, error.message);
                          if (*client != 0)
                            on_client_closed(*client);
                          else if (is_driver)
                            stop();
                        }});
}

void Agent::refuse(const std::shared_ptr<Transport>& transport, std::uint64_t request, const Error& refusal) {
  capnp::MallocMessageBuilder builder;
  auto answer = builder.initRoot<Control>();
  answer.setRequest(request);
  auto error = answer.initReply().initError();
  error.setCode(static_cast<std::uint16_t>(refusal.code));
  error.setMessage(refusal.message);
  (void)transport->send(FrameType::Control, 0, wire::to_bytes(builder));
}

Agent::ClientId Agent::on_hello(const std::shared_ptr<Transport>& transport, Control::Reader control) {
  const auto refused = [&](const std::string& why) {
    refuse(transport, control.getRequest(), {Code::Refused, why});
    return ClientId{0};
  };
  if (!control.isHello()) return refused("the first message of a connection is a hello");
  const auto hello = control.getHello();
  if (hello.getVersion() != wire::PROTOCOL_VERSION)
    return refused("this rt speaks protocol " + std::to_string(static_cast<std::uint32_t>(wire::PROTOCOL_VERSION)) +
                   ", the program " + std::to_string(hello.getVersion()) + "; build it again");
  const bool is_ahead = hello.getRole() == wire::Hello::Role::WORKER && hello.getActor() == 0;
  const bool is_worker = hello.getRole() == wire::Hello::Role::WORKER && !is_ahead;
  const auto worker = workers_.find(hello.getActor());
  if (is_worker && (worker == workers_.end() || worker->second.incarnation != hello.getIncarnation()))
    return refused("actor " + std::to_string(hello.getActor()) + " isn't one that this node started, or has ended");
  if (is_worker) worker->second.address = text(hello.getAddress());

  const ClientId client = next_client_++;
  if (is_worker) worker->second.client = client;
  if (is_ahead)
    if (const Status known = on_ahead(client, hello); !known) return refused(known.error().message);
  clients_[client] = transport;
  capnp::MallocMessageBuilder builder;
  auto answer = builder.initRoot<Control>();
  answer.setRequest(control.getRequest());
  auto reply = answer.initReply().initHello();
  reply.setClient(client);
  reply.setNode(node_);
  reply.setRunFolder(options_.run_folder);
  if (store_) {
    reply.setStorePath(store_->path());
    reply.setStoreSlot(store_->enter(static_cast<pid_t>(hello.getPid())));
    if (!is_worker && !is_ahead) driver_pids_[client] = static_cast<pid_t>(hello.getPid());
  }
  (void)transport->send(FrameType::Control, 0, wire::to_bytes(builder));
  if (is_worker) {
    Worker started = worker->second;
    started.pid = static_cast<pid_t>(hello.getPid());  // its fork server may not have told it yet
    tell_started(started);
  }
  if (!is_worker && !is_ahead)
    send_head([&](Control::Builder up) {
      auto joined = up.initDriverJoined();
      joined.setClient(client);
      joined.setPid(hello.getPid());
      joined.setNameSpace(hello.getNameSpace());
    });
  return client;
}

void Agent::tell_started(const Worker& worker) {
  send_head([&](Control::Builder up) {
    auto started = up.initWorkerStarted();
    started.setActor(worker.actor);
    started.setIncarnation(worker.incarnation);
    started.setAddress(worker.address);
    started.setPid(static_cast<std::uint32_t>(worker.pid));
    started.setClient(worker.client);
    started.setLog(worker.log);
    started.setLogBegin(worker.log_begin);
  });
}

// Push back where the head is slow: the request is refused, not lost.
void Agent::on_client_frame(ClientId client, const Frame& frame) {
  const Status sent = head_->send(FrameType::Control, client, frame.body);
  if (sent || sent.error().code == Code::NotSent) return;  // gone: shows as the head's on_close
  std::uint64_t request = 0;
  (void)wire::with_message<Control>(frame.body, [&](Control::Reader control) { request = control.getRequest(); });
  if (request != 0)
    return refuse(clients_.at(client), request, {sent.error().code, "the head: " + sent.error().message});
  drop_client(client, "the head can't take what it sends: " + sent.error().message);
}

void Agent::on_client_closed(ClientId client) {
  clients_.erase(client);
  if (const auto driver = driver_pids_.find(client); driver != driver_pids_.end()) {
    store_->bury(driver->second);
    driver_pids_.erase(driver);
  }
  if (client == driver_) return stop();
  if (ahead_.contains(client)) return;  // the head doesn't know it; its exit is told by its fork server
  send_head([&](Control::Builder control) { control.setClientLeft(client); });
}

void Agent::send_client(ClientId client, std::string_view bytes) {
  const auto it = clients_.find(client);
  if (it == clients_.end()) return;
  const Status sent = it->second->send(FrameType::Control, 0, bytes);
  if (!sent && sent.error().code == Code::Unavailable) drop_client(client, sent.error().message);
}

void Agent::drop_client(ClientId client, const std::string& why) {
  const auto it = clients_.find(client);
  if (it == clients_.end()) return;
  log::warning("the connection of client {} is closed: {}", client, why);
  it->second->close();
  on_client_closed(client);
}

// --- the head ----------------------------------------------------------------------------------------------------

void Agent::on_head_frame(const Frame& frame) {
  if (frame.route != 0) return send_client(frame.route, frame.body);
  const Status read = wire::with_message<Control>(frame.body, [&](Control::Reader control) {
    if (control.isStartWorker()) return start_worker(control.getStartWorker());
    if (control.isKillWorker()) return kill_worker(control.getKillWorker());
    if (control.isDropClient()) return drop_client(control.getDropClient(), "it sent the head damaged bytes");
    if (!control.isReply()) return;
    if (control.getReply().isNode()) return on_registered(control.getReply().getNode());
    if (!control.getReply().isError()) return;
    log::error("the head refused this node: {}", text(control.getReply().getError().getMessage()));
    stop();
  });
  if (read) return;
  log::error("the head sent damaged bytes: {}", read.error().message);
  stop();
}

// Only now can a client be told who it is, so nobody is heard before.
void Agent::on_registered(wire::NodeRegistered::Reader registered) {
  node_ = registered.getNode();
  next_client_ = registered.getFirstClient();
  auto listener = UnixListener::open(io_, options_.run_folder + "/node.sock", [this](Fd client) {
    welcome(make_unix_transport(io_, client.release()), /*is_driver=*/false);
  });
  if (!listener) {
    log::error("{}", listener.error().message);
    return stop();
  }
  listener_ = *std::move(listener);
  if (options_.driver_fd >= 0) welcome(make_unix_transport(io_, options_.driver_fd), /*is_driver=*/true);
}

}  // namespace rt
