#include "rt/actors/inline/node.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "rt/actors/cluster.h"
#include "rt/actors/inline/store.h"
#include "rt/actors/process_store.h"
#include "rt/runtime/base/log.h"
#include "rt/runtime/device/offer.h"
#include "rt/runtime/node/death_cause.h"
#include "rt/runtime/wire/message.h"

namespace rt::detail {

using wire::Control;

namespace {

std::string address_of(const WorkerStart& start) {
  return std::to_string(start.actor) + "." + std::to_string(start.incarnation);
}

}  // namespace

Result<std::unique_ptr<InlineNode>> InlineNode::start(const ConnectOptions& options) {
  std::unique_ptr<InlineNode> node(new InlineNode);
  RT_CHECK(node->register_here(options));
  return node;
}

Status InlineNode::register_here(const ConnectOptions& options) {
  RT_TRY(offer, node_offer({options.cpus, options.simulate_gpus, options.memory, options.object_store}));
  capnp::MallocMessageBuilder builder;
  auto control = builder.initRoot<Control>();
  control.setRequest(1);
  auto facts = control.initRegisterNode();
  facts.setVersion(wire::PROTOCOL_VERSION);
  facts.setName("inline");
  facts.setPid(static_cast<std::uint32_t>(::getpid()));
  auto cores = facts.initCores(static_cast<unsigned>(offer.cores.size()));
  for (unsigned i = 0; i < offer.cores.size(); ++i) cores.set(i, offer.cores[i]);
  auto gpus = facts.initGpus(static_cast<unsigned>(offer.gpus.size()));
  for (unsigned i = 0; i < offer.gpus.size(); ++i) gpus.set(i, offer.gpus[i]);
  facts.setMemory(offer.memory);
  auto resources = facts.initResources(static_cast<unsigned>(options.resources.size()));
  unsigned next = 0;
  for (const Resource& resource : options.resources) {
    resources[next].setName(std::string(resource.name));
    resources[next++].setAmount(resource.amount);
  }
  RT_TRY(answers, head_.handle({}, wire::to_bytes(builder), HeadTime{0}));
  return wire::with_message<Control>(answers.front().bytes, [&](Control::Reader answer) {
    node_ = answer.getReply().getNode().getNode();
    next_client_ = answer.getReply().getNode().getFirstClient();
    ProcessStore::of(scheduler_.io()).share(std::make_shared<InlineStore>(offer.object_store, node_));
  });
}

// Children and those that somebody waits for in a destructor were mostly there before who waits: the last one first.
InlineNode::~InlineNode() {
  scheduler_.driver().client = nullptr;
  for (auto actor = order_.rbegin(); actor != order_.rend(); ++actor)
    if (const auto it = workers_.find(*actor); it != workers_.end()) end(it->second);
  try {
    while (!workers_.empty()) {
      all_ended_.reset();
      (void)scheduler_.wait(all_ended_, TimePoint::max());
    }
  } catch (const Exception& e) {
    log::error("an actor did not end with its cluster: {}", e.what());
  }
  tick_.cancel();
  for (const auto& [client, link] : clients_) link->close();
  scheduler_.drain_timers();
}

// --- who takes part -------------------------------------------------------------------------------------------------

std::shared_ptr<Client> InlineNode::join(Party& party, ClientId client,
                                         const std::function<void(const std::shared_ptr<InlineLink>&)>& keep) {
  const auto [node_end, client_end] = InlineLink::make_pair(scheduler_, scheduler_.driver(), party);
  node_end->start({.on_frame =
                       [this, client](const Frame& frame) {
                         tell_head({node_, client}, frame.body);
                       },
                   .on_close = [this, client](const Error&) { clients_.erase(client); }});
  clients_[client] = node_end;
  keep(client_end);
  return Client::start(
      InlineClientStart{.io = scheduler_.io(),
                        .agent = client_end,
                        .connect = [this, &party](const std::string& address) { return connect(party, address); },
                        .joined = {.client = client, .node = node_, .run_folder = ""}});
}

std::shared_ptr<Client> InlineNode::join_driver(const std::string& name_space) {
  const ClientId client = next_client_++;
  tell_head([&](Control::Builder control) {
    auto joined = control.initDriverJoined();
    joined.setClient(client);
    joined.setPid(static_cast<std::uint32_t>(::getpid()));
    joined.setNameSpace(name_space);
  });
  auto joined = join(scheduler_.driver(), client, [](const auto&) {});
  scheduler_.driver().client = joined.get();
  return joined;
}

Result<std::shared_ptr<Transport>> InlineNode::connect(Party& from, const std::string& address) {
  const auto to = workers_.find(std::stoull(address));
  if (to == workers_.end() || address_of(to->second.worker->start()) != address)
    return Error{Code::NotSent, "the actor has ended"};
  const auto [caller, callee] = InlineLink::make_pair(scheduler_, from, to->second.worker->party());
  to->second.worker->accept(callee);
  if (const auto self = workers_.find(from.actor); self != workers_.end()) self->second.worker->keep(caller);
  return std::shared_ptr<Transport>(caller);
}

// --- the head -------------------------------------------------------------------------------------------------------

template <class Fill>
void InlineNode::tell_head(Fill&& fill) {
  capnp::MallocMessageBuilder builder;
  fill(builder.initRoot<Control>());
  tell_head({node_, 0}, wire::to_bytes(builder));
}

// Its answers travel as all messages do.
void InlineNode::tell_head(Origin from, std::string_view control) {
  const auto now = std::chrono::duration_cast<HeadTime>(SystemClock().now() - began_);
  const auto answers = head_.handle(from, control, now);
  if (!answers) return log::error("the head: {}", answers.error().message);
  for (const Outgoing& message : *answers) {
    if (message.to.client == 0) {
      scheduler_.post(scheduler_.driver(), [this, bytes = message.bytes] {
        (void)wire::with_message<Control>(bytes, [this](Control::Reader says) { on_head_says(says); });
      });
    } else if (const auto to = clients_.find(message.to.client); to != clients_.end()) {
      (void)to->second->send(FrameType::Control, 0, message.bytes, {});
    }
  }
  watch_tick();
}

void InlineNode::watch_tick() {
  const std::optional<HeadTime> next = head_.next_tick();
  if (next == awaited_) return;
  awaited_ = next;
  tick_.cancel();
  if (!next) return;
  tick_.expires_at(began_ + *next);
  tick_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    awaited_.reset();
    capnp::MallocMessageBuilder builder;
    builder.initRoot<Control>().setTick();
    tell_head(Origin{}, wire::to_bytes(builder));
  });
}

void InlineNode::on_head_says(Control::Reader control) {
  if (control.isStartWorker()) return start_worker(control.getStartWorker());
  if (control.isKillWorker()) return kill_worker(control.getKillWorker());
}

// --- actors ---------------------------------------------------------------------------------------------------------

void InlineNode::start_worker(wire::StartWorker::Reader start) {
  const ActorId actor = start.getActor();
  Kept& kept = workers_[actor] = Kept{};
  order_.push_back(actor);
  kept.client = next_client_++;
  kept.worker = std::make_unique<InlineWorker>(scheduler_, read_worker_start(start));
  InlineWorker& worker = *kept.worker;
  worker.join(join(worker.party(), kept.client, [&](const auto& link) { worker.keep(link); }),
              [this, actor] { bury(actor); });
  tell_head([&](Control::Builder control) {
    auto started = control.initWorkerStarted();
    started.setActor(actor);
    started.setIncarnation(start.getIncarnation());
    started.setAddress(address_of(worker.start()));
    started.setPid(static_cast<std::uint32_t>(::getpid()));
    started.setClient(kept.client);
  });
}

void InlineNode::kill_worker(wire::Kill::Reader kill) {
  const auto it = workers_.find(kill.getActor());
  if (it == workers_.end() || it->second.worker->start().incarnation != kill.getIncarnation()) return;
  Kept& kept = it->second;
  if (kill.getDeadlineMs() == 0 || !kept.worker->has_begun()) return end(kept);
  kept.kill_asked = true;
  capnp::MallocMessageBuilder builder;
  builder.initRoot<Control>().setStop();
  (void)clients_.at(kept.client)->send(FrameType::Control, 0, wire::to_bytes(builder), {});
  kept.deadline =
      std::make_unique<boost::asio::steady_timer>(scheduler_.io(), std::chrono::milliseconds(kill.getDeadlineMs()));
  kept.deadline->async_wait([this, &kept](const boost::system::error_code& error) {
    if (error) return;
    kept.deadline_passed = true;
    end(kept);
  });
}

void InlineNode::end(Kept& kept) {
  kept.kill_asked = true;
  scheduler_.end(kept.worker->party());
}

// It has ended and isn't on its stack any more.
void InlineNode::bury(ActorId actor) {
  const auto it = workers_.find(actor);
  Kept kept = std::move(it->second);
  workers_.erase(it);
  std::erase(order_, actor);
  kept.deadline.reset();
  const auto link = clients_.at(kept.client);
  clients_.erase(kept.client);
  link->close();
  const InlineWorker::End end = kept.worker->end();
  const std::uint32_t incarnation = kept.worker->start().incarnation;
  const std::string why = kept.worker->why();
  kept.worker.reset();
  tell_head([&](Control::Builder control) { control.setClientLeft(kept.client); });
  constexpr int kCannotStart = 70;  // as a worker's process says it
  const int status = end == InlineWorker::End::Left     ? 0
                     : end == InlineWorker::End::Killed ? SIGKILL
                                                        : kCannotStart << 8;
  const Death death = death_cause({.status = status, .kill_asked = kept.kill_asked});
  tell_head([&](Control::Builder control) {
    auto died = control.initWorkerExited();
    died.setActor(actor);
    died.setIncarnation(incarnation);
    died.setCause(death.cause);
    died.setKind(death.kind);
    died.setExitCode(death.exit_code);
    died.setSignal(static_cast<std::uint32_t>(death.signal));
    died.setDeadlinePassed(kept.deadline_passed);
    died.setLastLines(why);
  });
  if (workers_.empty()) scheduler_.poller().complete(all_ended_);
}

}  // namespace rt::detail
