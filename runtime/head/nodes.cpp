// The head's nodes: they register with what they have, and are lost with all that ran on them.

#include "rt/runtime/head/emit.h"

namespace rt {

using wire::text;

void Head::on_register(Origin from, std::uint64_t request, wire::NodeFacts::Reader facts) {
  NodeResources resources{.name = text(facts.getName())};
  for (const auto core : facts.getCores()) resources.cores.push_back(core);
  for (const auto gpu : facts.getGpus()) resources.gpus.push_back(text(gpu));
  resources.memory = facts.getMemory();
  for (const auto resource : facts.getResources()) resources.custom[text(resource.getName())] = resource.getAmount();
  if (facts.getVersion() != wire::PROTOCOL_VERSION)
    return fail(from, request,
                {Code::Refused,
                 "node " + resources.name + " speaks protocol " + std::to_string(facts.getVersion()) + ", this head " +
                     std::to_string(static_cast<std::uint32_t>(wire::PROTOCOL_VERSION)) + "; both must be of one rt"});
  const NodeId id = next_node_++;
  nodes_[id] = resources.name;
  ledger_.add_node(id, std::move(resources));
  const std::uint64_t block = next_client_block_++;
  emit({id, 0}, request, [&](Control::Builder control) {
    auto reply = control.initReply().initNode();
    reply.setNode(id);
    reply.setTerm(term_);
    reply.setFirstClient(block << 20);
  });
  grant_pending();
}

void Head::on_driver_joined(NodeId node, wire::DriverJoined::Reader joined) {
  std::string name_space = text(joined.getNameSpace());
  if (name_space.empty()) name_space = kDefaultNameSpace;
  drivers_[{node, joined.getClient()}] = {joined.getPid(), std::move(name_space)};
}

// What it spawned dies with it, but for what is detached; its leases end.
void Head::on_client_left(Origin client) {
  keys_.forget_client(client.node, client.client);
  std::erase_if(pending_, [&](const Pending& pending) { return pending.owner == client && pending.actor == 0; });
  std::vector<std::uint64_t> children;
  for (auto& [id, actor] : actors_) {
    actor.watchers.erase(client);
    if (actor.owner == client && !actor.detached) children.push_back(id);
  }
  for (const std::uint64_t id : children)
    if (const auto it = actors_.find(id); it != actors_.end()) {
      const std::string parent = it->second.parent;
      kill(id, {.kind = wire::DeathKind::PARENT_ENDED, .by = parent, .cause = "its parent, " + parent + ", has ended"});
    }
  std::vector<LeaseId> leases;
  for (const auto& [id, lease] : leases_)
    if (lease.owner == client) leases.push_back(id);
  for (const LeaseId id : leases) release(id, who(client));
  for (auto& [id, supervised] : supervisors_)
    if (supervised.owner == client) supervised.owner_left = true;
  std::erase_if(supervisors_, [](const auto& entry) { return entry.second.owner_left && entry.second.state.empty(); });
  drivers_.erase(client);
  log_followers_.erase(client);
  grant_pending();  // what it asked for may have stood before others
}

std::set<Origin> Head::clients_of(NodeId node) const {
  std::set<Origin> clients;
  const auto add = [&](Origin origin) {
    if (origin.node == node) clients.insert(origin);
  };
  for (const auto& [id, actor] : actors_) {
    add(actor.owner);
    add(actor.client);
    for (const Origin& watcher : actor.watchers) add(watcher);
  }
  for (const auto& [id, lease] : leases_) add(lease.owner);
  for (const Pending& pending : pending_) add(pending.owner);
  for (const auto& [id, supervised] : supervisors_) add(supervised.owner);
  for (const auto& [origin, driver] : drivers_) add(origin);
  for (const Origin& follower : log_followers_) add(follower);
  return clients;
}

// Its actors are dead, its clients have left, its part of each lease is gone.
void Head::on_node_lost(NodeId node) {
  if (nodes_.erase(node) == 0) return;
  ledger_.remove_node(node);  // first: nothing may be placed there any more
  const std::set<Origin> clients = clients_of(node);
  std::vector<std::uint64_t> lost;
  for (const auto& [id, actor] : actors_)
    if (actor.node == node) lost.push_back(id);
  for (const std::uint64_t id : lost) bury_with(id, wire::DeathKind::NODE_LOST, "its node was lost");
  for (const Origin& client : clients) on_client_left(client);
  keys_.forget_node(node);
  refuse_impossible();
  grant_pending();
  std::erase_if(out_, [node](const Outgoing& message) { return message.to.node == node; });
}

}  // namespace rt
