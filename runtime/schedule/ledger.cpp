#include "rt/runtime/schedule/ledger.h"

#include <algorithm>
#include <limits>

#include "rt/runtime/schedule/lacking.h"

namespace rt {
namespace {

// How many bundles of the request this much holds.
std::uint32_t bundles_in(const NodeResources& node, const GangRequest& request) {
  std::uint64_t count = std::numeric_limits<std::uint32_t>::max();
  if (request.cpus > 0) count = std::min<std::uint64_t>(count, node.cores.size() / request.cpus);
  if (request.gpus > 0) count = std::min<std::uint64_t>(count, node.gpus.size() / request.gpus);
  if (request.memory > 0) count = std::min(count, node.memory / request.memory);
  for (const auto& [name, amount] : request.custom) {
    const auto there = node.custom.find(name);
    if (amount > 0) count = std::min(count, there == node.custom.end() ? 0 : there->second / amount);
  }
  return static_cast<std::uint32_t>(count);
}

template <class T>
std::vector<T> take_front(std::vector<T>& from, std::size_t count) {
  std::vector<T> taken(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(count));
  from.erase(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(count));
  return taken;
}

template <class T>
void give_back(std::vector<T>& to, const std::vector<T>& what) {
  to.insert(to.end(), what.begin(), what.end());
  std::sort(to.begin(), to.end());
}

BundlePlace take(NodeId id, NodeResources& free, const GangRequest& request) {
  free.memory -= request.memory;
  for (const auto& [name, amount] : request.custom)
    if (amount > 0) free.custom.at(name) -= amount;
  return {id, take_front(free.cores, request.cpus), take_front(free.gpus, request.gpus)};
}

void give_back(NodeResources& free, const BundlePlace& place, const GangRequest& request) {
  give_back(free.cores, place.cores);
  give_back(free.gpus, place.gpus);
  free.memory += request.memory;
  for (const auto& [name, amount] : request.custom)
    if (amount > 0) free.custom.at(name) += amount;
}

}  // namespace

void Ledger::add_node(NodeId id, NodeResources resources) { nodes_[id] = Node{resources, resources}; }

void Ledger::remove_node(NodeId id) {
  nodes_.erase(id);
  for (auto& [lease, held] : leases_)
    std::erase_if(held.places, [id](const BundlePlace& place) { return place.node == id; });
}

Status Ledger::check_possible(const GangRequest& request) const {
  std::uint64_t possible = 0, cpus = 0, gpus = 0;
  std::vector<const NodeResources*> all;
  for (const auto& [id, node] : nodes_) {
    possible += bundles_in(node.all, request);
    cpus += node.all.cores.size();
    gpus += node.all.gpus.size();
    all.push_back(&node.all);
  }
  if (possible >= request.size) return Unit{};
  const std::string asked = std::to_string(request.size) + " x (" + in_words(request) +
                            ") can never be placed: the cluster has " + std::to_string(cpus) + " CPU slots and " +
                            std::to_string(gpus) + " GPUs on " + std::to_string(nodes_.size()) + " node(s), room for " +
                            std::to_string(possible) + " of the " + std::to_string(request.size);
  if (possible > 0 || all.empty()) return Error{Code::Invalid, asked};
  return Error{Code::Invalid, asked + "; " + what_the_closest_lacks(all, request)};
}

std::optional<std::vector<BundlePlace>> Ledger::place(LeaseId lease, const GangRequest& request) {
  struct Candidate {
    NodeId id;
    std::uint32_t room;
  };
  std::vector<Candidate> candidates;
  for (const auto& [id, node] : nodes_)
    if (const auto room = bundles_in(node.free, request); room > 0) candidates.push_back({id, room});

  // Fullest first, so that few nodes are used; once one node can hold all that is left, the tightest such node.
  std::stable_sort(candidates.begin(), candidates.end(), [](auto& a, auto& b) { return a.room > b.room; });
  std::vector<std::pair<NodeId, std::uint32_t>> chosen;
  std::uint32_t left = request.size;
  while (left > 0 && !candidates.empty()) {
    auto best = candidates.begin();
    for (auto it = candidates.begin(); it != candidates.end() && it->room >= left; ++it) best = it;
    const std::uint32_t here = std::min(left, best->room);
    chosen.emplace_back(best->id, here);
    left -= here;
    candidates.erase(best);
  }
  if (left > 0) return std::nullopt;

  std::vector<BundlePlace> places;
  for (const auto& [id, count] : chosen)
    for (std::uint32_t i = 0; i < count; ++i) places.push_back(take(id, nodes_.at(id).free, request));
  leases_[lease] = {request, places};
  return places;
}

void Ledger::release(LeaseId lease) {
  const auto it = leases_.find(lease);
  if (it == leases_.end()) return;
  for (const BundlePlace& place : it->second.places) give_back(nodes_.at(place.node).free, place, it->second.request);
  leases_.erase(it);
}

LedgerTotals Ledger::totals() const {
  LedgerTotals totals;
  for (const auto& [id, node] : nodes_) {
    ++totals.nodes;
    totals.cpus += static_cast<std::uint32_t>(node.all.cores.size());
    totals.gpus += static_cast<std::uint32_t>(node.all.gpus.size());
    totals.free_cpus += static_cast<std::uint32_t>(node.free.cores.size());
    totals.free_gpus += static_cast<std::uint32_t>(node.free.gpus.size());
    totals.memory += node.all.memory;
    totals.free_memory += node.free.memory;
  }
  return totals;
}

}  // namespace rt
