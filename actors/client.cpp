#include "rt/actors/client.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <tuple>
#include <unordered_map>

#include "rt/actors/control_link.h"
#include "rt/actors/control_messages.h"
#include "rt/actors/io_thread.h"
#include "rt/actors/peers.h"
#include "rt/actors/task_pool.h"
#include "rt/actors/watchers.h"
#include "rt/runtime/net/unix_socket.h"

namespace rt::detail {
namespace {

using wire::Control;

class ClientOfAgent final : public Client {
 public:
  ClientOfAgent(boost::asio::io_context& io, IoThread* thread, Peers::Connect connect)
      : poller_(RingPoller::of(io)),
        thread_(thread),
        link_(io),
        peers_(
            io, static_cast<Client*>(this), [this](ActorId id) { ask_for_news(id); }, std::move(connect)),
        keys_(link_),
        tasks_(*this) {}

  ~ClientOfAgent() override {
    link_.close();
    if (thread_) thread_->stop();
    tasks_.close();
    const Error ended{Code::Unavailable, "this process has left the cluster"};
    link_.fail_all(ended);
    peers_.fail_all(ended);
    watchers_.tell_all(ended);
  }

  void open(const Joined& joined, std::shared_ptr<Transport> agent) {
    id_ = joined.client;
    node_ = joined.node;
    run_folder_ = joined.run_folder;
    ProcessStore& store = ProcessStore::of(poller_.io());
    if (!store.store()) store.open(joined);
    large_ = store.store();
    link_.open(
        std::move(agent), [this](Control::Reader notice) { on_notice(notice); }, [this] { on_lost(); });
  }

  ActorId spawn(const SpawnRequest& request) override {
    const ActorId actor = next_id();
    peers_.expect(actor, request.calls);
    if (!request.objects.empty()) {
      const std::lock_guard lock(mutex_);
      kept_[actor] = request.objects;
    }
    link_.send([&](Control::Builder control) { fill_spawn(control.initSpawn(), actor, request); },
               [this, actor](Result<wire::Reply::Reader> reply) {
                 if (!reply && reply.error().code != Code::Unavailable)  // of a lost agent on_lost tells
                   on_death_notice({.actor = actor, .cause = reply.error().message});
               });
    return actor;
  }

  void kill(ActorId actor, std::chrono::milliseconds deadline) override {
    const auto limit = std::clamp<std::int64_t>(deadline.count(), 0, UINT32_MAX);
    link_.send(
        [&](Control::Builder control) {
          auto kill = control.initKill();
          kill.setActor(actor);
          kill.setDeadlineMs(static_cast<std::uint32_t>(limit));
        },
        nullptr);
  }

  std::shared_ptr<CallState> call(ActorId actor, wire::MethodName method, std::string_view arguments,
                                  CallTerms terms) override {
    return peers_.call(actor, method, arguments, terms);
  }
  Status send(ActorId actor, wire::MethodName method, std::string_view arguments, CallTerms terms) override {
    return peers_.send(actor, method, arguments, terms);
  }

  Result<ActorId> lookup(const std::string& name, const std::string& name_space) override {
    return link_.ask(
        [&](Control::Builder control) {
          auto wanted = control.initLookup();
          wanted.setName(name);
          wanted.setNameSpace(name_space);
        },
        [](wire::Reply::Reader reply) { return reply.getActor().getActor(); }, ControlLink::kAnswerLimit);
  }

  Result<std::vector<ActorFacts>> list(const std::string& name_space) override {
    return link_.ask([&](Control::Builder control) { control.setListActors(name_space); },
                     [this](wire::Reply::Reader reply) { return read_actors(reply.getActors(), run_folder_); },
                     ControlLink::kAnswerLimit);
  }

  std::uint64_t supervise(const SupervisorOptions& options) override {
    const std::uint64_t number = next_id();
    link_.send([&](Control::Builder control) { fill_supervise(control.initSupervise(), number, options); }, nullptr);
    return number;
  }

  std::shared_ptr<Watcher> watch(ActorId actor, Watcher::Told told) override {
    auto watcher = watchers_.add(actor, std::move(told));
    link_.send([&](Control::Builder control) { control.initWatch().setActor(actor); },
               [watcher](Result<wire::Reply::Reader> reply) {
                 if (!reply)
                   watcher->tell(reply.error());
                 else if (reply->isDied())
                   watcher->tell(read_death(reply->getDied()));
               });
    return watcher;
  }

  Status leaving() override {
    return link_.ask([](Control::Builder control) { control.setLeaving(); }, [](wire::Reply::Reader) { return Unit{}; },
                     ControlLink::kAnswerLimit);
  }

  Status constructor_threw(const std::string& what) override {
    return link_.ask([&](Control::Builder control) { control.setConstructorThrew(what); },
                     [](wire::Reply::Reader) { return Unit{}; }, ControlLink::kAnswerLimit);
  }

  void say(const std::string& what) override {
    link_.send([&](Control::Builder control) { control.setSay(what); }, nullptr);
  }

  void on_said(std::function<void(const std::string&)> handler) override {
    const std::lock_guard lock(mutex_);
    said_handler_ = std::move(handler);
  }

  void follow_logs(std::function<void(const LogBegins&)> told) override {
    {
      const std::lock_guard lock(mutex_);
      log_handler_ = std::move(told);
    }
    link_.send([](Control::Builder control) { control.setFollowLogs(); }, nullptr);
  }

  void on_stop(std::function<void()> handler) override {
    {
      const std::lock_guard lock(mutex_);
      stop_handler_ = handler;
      if (!is_to_stop_) return;
    }
    if (handler) handler();
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

  std::vector<CallUnderWay> under_way() override { return peers_.under_way(); }
  void give_up(const CallUnderWay& call, const Error& error) override { peers_.give_up(*call.state, error); }

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
                       return ClusterTotals{facts.getNodes(),     facts.getCpus(),     facts.getGpus(),
                                            facts.getFreeCpus(),  facts.getFreeGpus(), facts.getMemory(),
                                            facts.getFreeMemory()};
                     },
                     ControlLink::kAnswerLimit);
  }

  KeyValue& keys() override { return keys_; }
  const std::string& run_folder() const override { return run_folder_; }
  std::uint32_t node() const override { return node_; }
  RingPoller& poller() override { return poller_; }
  TaskStarter& tasks() override { return tasks_; }

 private:
  std::uint64_t next_id() { return (id_ << 24) + next_actor_.fetch_add(1); }

  // For calls to an actor that was spawned elsewhere.
  void ask_for_news(ActorId actor) {
    link_.send([&](Control::Builder control) { control.initWatch().setActor(actor); },
               [this, actor](Result<wire::Reply::Reader> reply) {
                 if (reply && reply->isDied()) return on_death_notice(read_death(reply->getDied()));
                 if (!reply && reply.error().code != Code::Unavailable)  // of a lost agent on_lost tells
                   on_death_notice({.actor = actor, .cause = reply.error().message, .exit_code = -1});
               });
  }

  void on_notice(Control::Reader notice) {
    if (notice.isActorStarted()) {
      const auto started = notice.getActorStarted();
      const auto calls = started.getCalls();
      const auto deadline = std::min<std::uint64_t>(calls.getDeadlineMs(), INT64_MAX / 2'000'000);
      peers_.on_started(started.getActor(), started.getIncarnation(), wire::text(started.getAddress()),
                        {std::chrono::milliseconds(deadline), calls.getMostPending()});
    } else if (notice.isActorDied()) {
      on_death_notice(read_death(notice.getActorDied()));
    } else if (notice.isStop()) {
      on_stop_asked();
    } else if (notice.isSay()) {
      if (const auto handler = handler_now(said_handler_)) handler(wire::text(notice.getSay()));
    } else if (notice.isLogBegins()) {
      const auto begins = notice.getLogBegins();
      if (const auto handler = handler_now(log_handler_))
        handler({begins.getActor(), wire::text(begins.getName()), wire::text(begins.getLog()),
                 static_cast<int>(begins.getPid()), begins.getBegin()});
    }
  }

  template <class Handler>
  Handler handler_now(const Handler& handler) {
    const std::lock_guard lock(mutex_);
    return handler;
  }

  void on_stop_asked() {
    std::function<void()> handler;
    {
      const std::lock_guard lock(mutex_);
      if (std::exchange(is_to_stop_, true)) return;
      handler = stop_handler_;
    }
    if (handler) handler();
  }

  void on_death_notice(const ActorDeath& death) {
    peers_.on_died(death);
    watchers_.tell(death);
    std::function<void(const ActorDeath&)> handler;
    Attachments no_longer_kept;
    {
      const std::lock_guard lock(mutex_);
      handler = death_handler_;
      if (const auto kept = kept_.find(death.actor); kept != kept_.end() && !death.will_restart) {
        no_longer_kept = std::move(kept->second);
        kept_.erase(kept);
      }
    }
    if (handler) handler(death);
  }

  void on_lost() {
    const Error lost{Code::Unavailable, "this node's agent (rtd) is gone"};
    peers_.fail_all(lost);
    watchers_.tell_all(lost);
    std::function<void()> handler;
    {
      const std::lock_guard lock(mutex_);
      is_lost_ = true;
      handler = lost_handler_;
    }
    if (handler) handler();
  }

  RingPoller& poller_;
  IoThread* const thread_;  // null: none of its own
  ControlLink link_;
  Peers peers_;
  Watchers watchers_;
  KeyValueOfHead keys_;
  TaskPool tasks_;
  std::uint64_t id_ = 0;
  std::uint32_t node_ = 0;
  std::string run_folder_;
  std::atomic<std::uint64_t> next_actor_{1};
  std::mutex mutex_;                               // guards what follows
  std::unordered_map<ActorId, Attachments> kept_;  // what their constructors' arguments refer to
  std::function<void(const ActorDeath&)> death_handler_;
  std::function<void()> lost_handler_;
  std::function<void()> stop_handler_;
  std::function<void(const std::string&)> said_handler_;
  std::function<void(const LogBegins&)> log_handler_;
  bool is_lost_ = false, is_to_stop_ = false;
};

}  // namespace

std::shared_ptr<Client> Client::start(const ClientStart& start) {
  auto client = std::make_shared<ClientOfAgent>(start.io->io(), start.io, nullptr);
  client->open(start.joined, make_unix_transport(start.io->io(), start.agent_fd));
  return client;
}

std::shared_ptr<Client> Client::start(const InlineClientStart& start) {
  auto client = std::make_shared<ClientOfAgent>(start.io, nullptr, start.connect);
  client->open(start.joined, start.agent);
  return client;
}

}  // namespace rt::detail
