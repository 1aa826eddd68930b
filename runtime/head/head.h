#pragma once
// Head: the cluster's one state machine. Nodes, leases, actors, names, keys come and go only by messages handled here.
//
// Owner: rtd's head process, one value. Pure: bytes of Control messages come in with who sent them, messages go out as
// values; no clock, socket or thread, so the same messages give the same answers, from the journal too.
// It is the only allocator: a slot is in one lease at most, and a lease's slots are free only when every process that
// ran in it is gone.
// Ids: a lease's id is term * 2^32 + a counter, so that none is used twice, also after a restart.
// Replay: the messages that `is_journalled` names, in order, give a head of the same term the same state but for the
// key-value space, which begins empty (head/record.h). An embedded head doesn't replay: it starts afresh in a new term.

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "rt/runtime/head/key_value_space.h"
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
  // connection to a node's agent is a message too: `clientLeft` of client 0, in the node's name.
  Result<std::vector<Outgoing>> handle(Origin from, std::string_view control);

  // Must this message be in the journal before its effect? (Keys and questions aren't.)
  static bool is_journalled(std::string_view control);

  LedgerTotals totals() const { return ledger_.totals(); }
  std::size_t actors() const { return actors_.size(); }
  std::size_t leases() const { return leases_.size(); }

 private:
  struct Actor {
    Origin owner;       // who spawned it: it dies with it
    Origin client;      // itself, once started
    std::string spawn;  // the Spawn, as bytes
    std::string name;
    NodeId node = 0;  // 0: waits for resources
    std::uint32_t incarnation = 1;
    std::uint32_t restarts_left = 0;
    LeaseId lease = 0;
    std::uint32_t bundle = 0;
    bool owns_lease = false;  // taken for this actor alone
    bool started = false, killed = false;
    std::string address;
    std::uint32_t pid = 0;
    std::set<Origin> watchers;
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

  void on_register(Origin from, std::uint64_t request, wire::NodeFacts::Reader facts);
  void on_lease(Origin from, std::uint64_t request, wire::LeaseRequest::Reader asked);
  void on_release(Origin from, LeaseId id, std::uint64_t request);
  void release(LeaseId id);
  void on_cancel(Origin from, std::uint64_t request);
  void on_spawn(Origin from, std::uint64_t request, wire::Spawn::Reader spawn);
  void on_kill(Origin from, std::uint64_t actor, std::uint64_t request);
  void on_lookup(Origin from, const std::string& name, std::uint64_t request);
  void on_watch(Origin from, std::uint64_t actor, std::uint64_t request);
  void on_cluster(Origin from, std::uint64_t request);
  void on_key_value(Origin from, std::uint64_t request, wire::KeyValueRequest::Reader asked);
  void on_worker_started(Origin from, wire::ActorStarted::Reader started);
  void on_worker_exited(Origin from, wire::ActorDied::Reader died);
  void on_client_left(Origin client);
  void on_node_lost(NodeId node);
  void dispatch(Origin from, Control::Reader message);
  void of_client(Origin from, std::uint64_t request, Control::Reader message);
  void of_agent(Origin from, std::uint64_t request, Control::Reader message);

  void start(std::uint64_t id, Actor& actor);
  static void fill_started(wire::ActorStarted::Builder to, std::uint64_t id, const Actor& actor);
  void kill(std::uint64_t id, Actor& actor);
  void bury(std::uint64_t id, wire::ActorDied::Reader died);
  void tell_died(const Actor& actor, wire::ActorDied::Reader died, bool will_restart);
  void bury_with(std::uint64_t id, const std::string& cause);
  std::set<Origin> clients_of(NodeId node) const;
  void grant_pending();
  void refuse_impossible();
  void grant(const Pending& pending, std::vector<BundlePlace> places, LeaseId id);
  void free_if_empty(LeaseId id);
  std::string key_prefix(Origin client) const;

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
  std::map<std::string, std::uint64_t> names_;
  std::map<LeaseId, Lease> leases_;
  std::vector<Pending> pending_;
  std::map<Origin, LeaseId> lease_of_client_;  // of workers in a gang
  std::vector<Outgoing> out_;                  // of the message being handled
};

}  // namespace rt
