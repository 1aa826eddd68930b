#pragma once
// Ledger: what each node has, and which lease holds it. Places gangs, all or nothing.
//
// Owner: the head, one value. Pure: no clock, thread or I/O; the same calls give the same placements.
// Invariants: a core or GPU is in one lease at most; a lease's resources come back all at once.
// Placement: a gang takes the fewest nodes that are free enough now; among single nodes the one that it fills best.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rt/runtime/base/result.h"

namespace rt {

using NodeId = std::uint32_t;
using LeaseId = std::uint64_t;

struct GangRequest {
  std::uint32_t size = 1;                            // bundles
  std::uint32_t cpus = 1;                            // slots a bundle
  std::uint32_t gpus = 0;                            // GPUs a bundle
  std::uint64_t memory = 0;                          // bytes a bundle
  std::map<std::string, std::uint64_t> custom = {};  // a bundle, by the names that nodes were given
  bool operator==(const GangRequest&) const = default;
};

struct NodeResources {
  std::string name;
  std::vector<int> cores;         // one entry a slot; -1: a slot that the user made up
  std::vector<std::string> gpus;  // UUIDs
  std::uint64_t memory = 0;       // bytes
  std::map<std::string, std::uint64_t> custom = {};
};

struct BundlePlace {
  NodeId node = 0;
  std::vector<int> cores;
  std::vector<std::string> gpus;
  bool operator==(const BundlePlace&) const = default;
};

struct LedgerTotals {
  std::uint32_t nodes = 0, cpus = 0, gpus = 0, free_cpus = 0, free_gpus = 0;
  std::uint64_t memory = 0, free_memory = 0;
};

class Ledger {
 public:
  void add_node(NodeId id, NodeResources resources);
  void remove_node(NodeId id);  // its part of every lease is forgotten

  // Code::Invalid when the gang could never fit, even with every lease gone: names what is asked, what there is, and,
  // where no node holds one bundle, what the closest one lacks.
  Status check_possible(const GangRequest& request) const;

  // The places of the bundles, taken for `lease`; nothing when it doesn't fit now.
  std::optional<std::vector<BundlePlace>> place(LeaseId lease, const GangRequest& request);

  void release(LeaseId lease);
  LedgerTotals totals() const;

 private:
  struct Node {
    NodeResources all, free;
  };
  struct Held {
    GangRequest request;
    std::vector<BundlePlace> places;
  };

  std::map<NodeId, Node> nodes_;
  std::map<LeaseId, Held> leases_;
};

}  // namespace rt
