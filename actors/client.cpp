#include "rt/actors/client.h"

#include <unistd.h>

#include <atomic>

#include "rt/actors/control_link.h"
#include "rt/actors/io_thread.h"
#include "rt/actors/peers.h"

namespace rt::detail {
namespace {

using wire::Control;

class ClientOfAgent final : public Client {
 public:
  explicit ClientOfAgent(IoThread& io)
      : io_(io),
        link_(io.io()),
        peers_(io.io(), static_cast<Client*>(this), [this](ActorId id) { watch(id); }),
        keys_(link_) {}

  ~ClientOfAgent() override {
    link_.close();
    io_.stop();
    const Error ended{Code::Unavailable, "this process has left the cluster"};
    link_.fail_all(ended);
    peers_.fail_all(ended);
  }

  Status open(const ClientStart& start) {
    link_.open(
        start.agent_fd, [this](Control::Reader notice) { on_notice(notice); }, [this] { on_lost(); });
    auto answer = link_.ask(
        [&](Control::Builder control) {
          auto hello = control.initHello();
          hello.setVersion(wire::PROTOCOL_VERSION);
          hello.setRole(start.actor == 0 ? wire::Hello::Role::DRIVER : wire::Hello::Role::WORKER);
          hello.setPid(static_cast<std::uint32_t>(::getpid()));
          hello.setActor(start.actor);
          hello.setIncarnation(start.incarnation);
          hello.setAddress(start.address);
        },
        [](wire::Reply::Reader reply) {
          return std::pair{reply.getHello().getClient(), wire::text(reply.getHello().getRunFolder())};
        },
        std::chrono::seconds(30));
    if (!answer) return answer.error();
    std::tie(id_, run_folder_) = *answer;
    return Unit{};
  }

  ActorId spawn(const SpawnRequest& request) override {
    const ActorId actor = (id_ << 24) + next_actor_.fetch_add(1);
    peers_.expect(actor);
    link_.send([&](Control::Builder control) { fill_spawn(control.initSpawn(), actor, request); },
               [this, actor](Result<wire::Reply::Reader> reply) {
                 if (!reply && reply.error().code != Code::Unavailable)  // of a lost agent on_lost tells
                   on_death_notice({.actor = actor, .cause = reply.error().message});
               });
    return actor;
  }

  void kill(ActorId actor) override {
    link_.send([&](Control::Builder control) { control.initKill().setActor(actor); }, nullptr);
  }

  std::shared_ptr<CallState> call(ActorId actor, wire::MethodName method, std::string_view arguments,
                                  CallTerms terms) override {
    return peers_.call(actor, method, arguments, terms);
  }
  Status send(ActorId actor, wire::MethodName method, std::string_view arguments) override {
    return peers_.send(actor, method, arguments);
  }

  Result<ActorId> lookup(const std::string& name) override {
    return link_.ask([&](Control::Builder control) { control.setLookup(name); },
                     [](wire::Reply::Reader reply) { return reply.getActor().getActor(); }, std::chrono::seconds(30));
  }

  std::uint64_t lease(const GangSize& gang, const std::string& name,
                      std::function<void(Result<Lease>)> granted) override {
    return link_.send(
        [&](Control::Builder control) {
          auto lease = control.initLease();
          lease.setSize(gang.size);
          lease.setCpusPerBundle(gang.cpus);
          lease.setGpusPerBundle(gang.gpus);
          lease.setName(name);
        },
        [granted = std::move(granted)](Result<wire::Reply::Reader> reply) {
          if (!reply)
            granted(reply.error());
          else
            granted(read_lease(reply->getLease()));
        });
  }

  void cancel_lease(std::uint64_t number) override {
    link_.forget(number);
    link_.send([&](Control::Builder control) { control.setCancelLease(number); }, nullptr);
  }

  void release(std::uint64_t lease) override {
    link_.send([&](Control::Builder control) { control.setReleaseLease(lease); }, nullptr);
  }

  void on_death(std::function<void(const ActorDeath&)> handler) override {
    const std::lock_guard lock(mutex_);
    death_handler_ = std::move(handler);
  }

  void on_agent_lost(std::function<void()> handler) override {
    {
      const std::lock_guard lock(mutex_);
      lost_handler_ = handler;
      if (!is_lost_) return;
    }
    if (handler) handler();  // it was lost before anyone asked to be told
  }

  Result<ClusterTotals> totals() override {
    return link_.ask([](Control::Builder control) { control.setCluster(); },
                     [](wire::Reply::Reader reply) {
                       const auto facts = reply.getCluster();
                       return ClusterTotals{facts.getNodes(), facts.getCpus(), facts.getGpus(), facts.getFreeCpus(),
                                            facts.getFreeGpus()};
                     },
                     std::chrono::seconds(30));
  }

  KeyValue& keys() override { return keys_; }
  const std::string& run_folder() const override { return run_folder_; }

 private:
  static void fill_spawn(wire::Spawn::Builder spawn, ActorId actor, const SpawnRequest& request) {
    spawn.setActor(actor);
    spawn.setClass(request.class_name);
    spawn.setArguments(wire::as_data(request.arguments));
    spawn.initProgram().setPath(request.program);
    spawn.getProgram().setHash(request.program_hash);
    spawn.setName(request.name);
    spawn.setLease(request.lease);
    spawn.setBundle(request.bundle);
    spawn.setCpus(request.cpus);
    spawn.setGpus(request.gpus);
    auto environment = spawn.initEnvironment(static_cast<unsigned>(request.environment.size()));
    for (unsigned i = 0; i < request.environment.size(); ++i) environment.set(i, request.environment[i]);
    spawn.setDirectory(request.directory);
    spawn.setLog(request.log);
    spawn.setMaxRestarts(request.max_restarts);
  }

  static Lease read_lease(wire::Lease::Reader from) {
    Lease lease{.id = from.getId()};
    for (const auto bundle : from.getBundles()) {
      BundleView view{.node = bundle.getNode()};
      for (const auto core : bundle.getCores()) view.cores.push_back(core);
      for (const auto gpu : bundle.getGpus()) view.gpus.push_back(wire::text(gpu));
      lease.bundles.push_back(std::move(view));
    }
    return lease;
  }

  void watch(ActorId actor) {
    link_.send([&](Control::Builder control) { control.initWatch().setActor(actor); },
               [this, actor](Result<wire::Reply::Reader> reply) {
                 if (!reply && reply.error().code != Code::Unavailable)  // of a lost agent on_lost tells
                   on_death_notice({.actor = actor, .cause = reply.error().message});
               });
  }

  void on_notice(Control::Reader notice) {
    if (notice.isActorStarted()) {
      const auto started = notice.getActorStarted();
      peers_.on_started(started.getActor(), started.getIncarnation(), wire::text(started.getAddress()));
    } else if (notice.isActorDied()) {
      const auto died = notice.getActorDied();
      on_death_notice({.actor = died.getActor(),
                       .incarnation = died.getIncarnation(),
                       .cause = wire::text(died.getCause()),
                       .exit_code = died.getExitCode(),
                       .signal = static_cast<int>(died.getSignal()),
                       .killed = died.getKilled(),
                       .will_restart = died.getWillRestart(),
                       .keeper_lost = died.getKeeperLost(),
                       .last_lines = wire::text(died.getLastLines())});
    }
  }

  void on_death_notice(const ActorDeath& death) {
    peers_.on_died(death);
    std::function<void(const ActorDeath&)> handler;
    {
      const std::lock_guard lock(mutex_);
      handler = death_handler_;
    }
    if (handler) handler(death);
  }

  void on_lost() {
    peers_.fail_all({Code::Unavailable, "this node's agent (rtd) is gone"});
    std::function<void()> handler;
    {
      const std::lock_guard lock(mutex_);
      is_lost_ = true;
      handler = lost_handler_;
    }
    if (handler) handler();
  }

  IoThread& io_;
  ControlLink link_;
  Peers peers_;
  KeyValueOfHead keys_;
  std::uint64_t id_ = 0;
  std::string run_folder_;
  std::atomic<std::uint64_t> next_actor_{1};
  std::mutex mutex_;  // guards the handlers
  std::function<void(const ActorDeath&)> death_handler_;
  std::function<void()> lost_handler_;
  bool is_lost_ = false;
};

}  // namespace

Result<std::shared_ptr<Client>> Client::start(const ClientStart& start) {
  auto client = std::make_shared<ClientOfAgent>(*start.io);
  RT_CHECK(client->open(start));
  return std::shared_ptr<Client>(std::move(client));
}

}  // namespace rt::detail
