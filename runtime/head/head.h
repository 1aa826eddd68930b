#pragma once
// Head: the cluster's one state machine. Nodes, leases, actors, names, keys come and go only by messages handled here.
//
// Owner: rtd's head process, one value. Pure: bytes of Control messages come in with who sent them, messages go out as
// values; no clock, socket or thread, so the same messages give the same answers, from the journal too.
// It is the only allocator: a slot is in one lease at most, and a lease's slots are free only when every process that
// ran in it is gone.
// Ids: a lease's id is term * 2^32 + a counter, so that none is used twice, also after a restart.
// Time: each message comes with the time at which it came; back-off and restart intensity go by that alone. Its owner
// says a `tick` when `next_tick` has come.
// Replay: the messages that `is_journalled` names, in order and with their times, give a head of the same term the same
// state but for the key-value space, which begins empty (head/record.h). An embedded head doesn't replay: it starts
// afresh in a new term.

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "rt/runtime/head/key_value_space.h"
#include "rt/runtime/head/supervisor_state.h"
#include "rt/runtime/schedule/ledger.h"
#include "rt/runtime/wire/control.capnp.h"

namespace rt {

struct Origin {
  NodeId node = 0;           // 0: not registered yet
  std::uint64_t client = 0;  // 0: the node's agent itself
  auto operator<=>(const Origin&) const = default;
};

struct Outgoing {
  Origin to;
  std::string bytes;  // a Control
};

class Head {
 public:
  explicit Head(std::uint64_t term) : term_(term) {}

  // Answers and effects of one message, in order. Damaged bytes are Code::Corrupt and change nothing. The end of the
  // connection to a node's agent is a message too: `clientLeft` of client 0, in the node's name; and so is the passing
  // of time: `tick`, from nobody. A `now` before an earlier one counts as that.
  Result<std::vector<Outgoing>> handle(Origin from, std::string_view control, HeadTime now);
  std::optional<HeadTime> next_tick() const;

  // Must this message be in the journal before its effect? (Keys and questions aren't.)
  static bool is_journalled(std::string_view control);

  LedgerTotals totals() const { return ledger_.totals(); }
  std::size_t actors() const { return actors_.size(); }
  std::size_t leases() const { return leases_.size(); }

 private:
  // Why an actor is to end, once it is.
  struct End {
    wire::DeathKind kind = wire::DeathKind::KILLED;
    std::string by;     // who asked
    std::string cause;  // for people
    std::uint32_t deadline_ms = 0;
    bool restarts = false;  // its supervisor starts it again
  };
  using Name = std::pair<std::string, std::string>;  // of a namespace and in it
  struct Actor {
    Origin owner;        // who spawned it: it dies with it, unless it is detached
    std::string parent;  // the same in words
    Origin client;       // itself, once started
    std::string spawn;   // the Spawn, as bytes
    Name name;
    std::string class_name;
    NodeId node = 0;  // 0: waits for resources
    std::uint32_t incarnation = 1;
    std::uint64_t supervisor = 0;  // of supervisors_; 0: none
    LeaseId lease = 0;
    std::uint32_t bundle = 0;
    bool detached = false;
    std::uint64_t call_deadline_ms = 0;
    std::uint32_t most_pending_calls = 0;
    bool owns_lease = false;  // taken for this actor alone
    bool started = false;
    bool is_down = false;  // between two incarnations
    bool leaving = false;
    std::optional<End> end;
    std::string constructor_threw;
    std::string last_error;  // what the last incarnation died of
    std::string address;
    std::uint32_t pid = 0;
    std::set<Origin> watchers;
  };
  struct Supervised {
    Origin owner;
    bool of_one = false;  // an actor's own: its id is the actor's
    bool owner_left = false;
    std::uint32_t stop_ms = 0;
    SupervisorState state;
  };
  struct Driver {
    std::uint32_t pid = 0;
    std::string name_space;
  };
  struct Lease {
    Origin owner;
    std::uint64_t request = 0;  // that it answered; 0: an actor's own
    std::vector<BundlePlace> bundles;
    std::set<std::uint64_t> actors;  // alive or starting
    bool releasing = false;
  };
  struct Pending {  // of a lease, first come first served
    Origin owner;
    std::uint64_t request = 0;  // to answer; 0 for an actor's own lease
    std::uint64_t actor = 0;
    GangRequest gang;
  };

  using Control = wire::Control;

  // head.cpp
  void dispatch(Origin from, Control::Reader message);
  void of_client(Origin from, std::uint64_t request, Control::Reader message);
  void of_agent(Origin from, std::uint64_t request, Control::Reader message);
  void on_watch(Origin from, std::uint64_t actor, std::uint64_t request);
  void on_cluster(Origin from, std::uint64_t request);

  // nodes.cpp
  void on_register(Origin from, std::uint64_t request, wire::NodeFacts::Reader facts);
  void on_driver_joined(NodeId node, wire::DriverJoined::Reader joined);
  void on_client_left(Origin client);
  void on_node_lost(NodeId node);
  std::set<Origin> clients_of(NodeId node) const;

  // leases.cpp
  void on_lease(Origin from, std::uint64_t request, wire::LeaseRequest::Reader asked);
  void on_release(Origin from, LeaseId id, std::uint64_t request);
  void on_cancel(Origin from, std::uint64_t request);
  void release(LeaseId id, const std::string& by);
  void grant_pending();
  void refuse_impossible();
  void grant(const Pending& pending, std::vector<BundlePlace> places, LeaseId id);
  void free_if_empty(LeaseId id);

  // keys.cpp
  void on_key_value(Origin from, std::uint64_t request, wire::KeyValueRequest::Reader asked);
  std::string key_prefix(Origin client) const;

  // names.cpp
  void on_lookup(Origin from, wire::ActorName::Reader asked, std::uint64_t request);
  void on_list(Origin from, const std::string& name_space, std::uint64_t request);
  std::string name_space_of(Origin client) const;
  std::string who(Origin client) const;  // in words
  static std::string in_words(std::uint64_t id, const Actor& actor);

  // actors.cpp
  void on_spawn(Origin from, std::uint64_t request, wire::Spawn::Reader spawn);
  Status check_spawn(Origin from, wire::Spawn::Reader spawn, const Name& name, const GangRequest& own) const;
  void refuse_spawn(Origin from, std::uint64_t request, std::uint64_t id, const Error& error);
  void on_worker_started(Origin from, wire::ActorStarted::Reader started);
  void start(std::uint64_t id, Actor& actor);
  static void fill_started(wire::ActorStarted::Builder to, std::uint64_t id, const Actor& actor);

  // deaths.cpp
  void on_worker_exited(Origin from, wire::ActorDied::Reader died);
  void on_kill(Origin from, wire::Kill::Reader asked, std::uint64_t request);
  void on_leaving(Origin from, std::uint64_t request);
  void on_constructor_threw(Origin from, std::string what, std::uint64_t request);
  void kill(std::uint64_t id, End end);
  void emit_kill(std::uint64_t id, const Actor& actor);
  void bury(std::uint64_t id, wire::ActorDied::Builder died);
  void bury_with(std::uint64_t id, wire::DeathKind kind, const std::string& cause);
  static void explain(const Actor& actor, wire::ActorDied::Builder died);
  void tell_died(const Actor& actor, wire::ActorDied::Reader died);
  void remember(std::uint64_t id, wire::ActorDied::Reader died);
  void remove(std::uint64_t id);

  // telling.cpp
  void on_say(Origin from, const std::string& what);
  void on_follow_logs(Origin from);
  void tell_followers(std::uint64_t id, const Actor& actor, wire::ActorStarted::Reader started);

  // supervision.cpp
  void on_supervise(Origin from, std::uint64_t request, wire::Supervise::Reader asked);
  void supervise(std::uint64_t id, Actor& actor, const RestartPolicy& own);
  bool restarts(std::uint64_t id, Actor& actor, wire::ActorDied::Builder died);
  void stop_siblings(std::uint64_t supervisor, const std::vector<SupervisorState::Child>& siblings,
                     const std::string& why);
  void give_up(std::uint64_t supervisor, std::uint64_t id, wire::ActorDied::Builder died);
  void start_due(std::uint64_t supervisor);
  void leave_supervisor(std::uint64_t supervisor, std::uint64_t id);
  void on_tick();

  // `fill(control)` builds the message.
  template <class Fill>
  void emit(Origin to, std::uint64_t request, Fill&& fill);
  void fail(Origin to, std::uint64_t request, const Error& error);
  void done(Origin to, std::uint64_t request);

  const std::uint64_t term_;
  NodeId next_node_ = 1;
  std::uint64_t next_client_block_ = 1;
  std::uint32_t next_lease_ = 1;
  Ledger ledger_;
  KeyValueSpace keys_;
  std::map<NodeId, std::string> nodes_;
  std::map<std::uint64_t, Actor> actors_;
  std::map<Name, std::uint64_t> names_;
  std::map<std::uint64_t, Supervised> supervisors_;
  std::map<Origin, Driver> drivers_;
  std::set<Origin> log_followers_;
  std::map<LeaseId, Lease> leases_;
  std::vector<Pending> pending_;
  std::map<Origin, std::uint64_t> actor_of_client_;
  static constexpr std::size_t kMostEnded = 1000;
  std::map<std::uint64_t, std::string> ended_;  // the last deaths, as bytes, for who asks late
  std::deque<std::uint64_t> ended_order_;       // oldest first
  HeadTime now_{0};
  std::vector<Outgoing> out_;  // of the message being handled
};

}  // namespace rt
