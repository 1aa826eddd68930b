#include "rt/runtime/schedule/lacking.h"

#include <algorithm>
#include <map>

#include "rt/runtime/base/byte_size.h"

namespace rt {
namespace {

// The amounts of one bundle or one node by what they are called. "memory" is in bytes.
using Amounts = std::map<std::string, std::uint64_t>;

Amounts amounts(std::uint64_t cpus, std::uint64_t gpus, std::uint64_t memory, const Amounts& custom) {
  Amounts all = custom;
  all["CPUs"] = cpus;
  all["GPUs"] = gpus;
  all["memory"] = memory;
  return all;
}

std::string in_words(std::uint64_t amount, const std::string& name) {
  return (name == "memory" ? byte_size(amount) : std::to_string(amount)) + " " + name;
}

std::string in_words(std::uint64_t cpus, std::uint64_t gpus, std::uint64_t memory, const Amounts& custom) {
  std::string words = in_words(cpus, "CPUs") + ", " + in_words(gpus, "GPUs");
  if (memory > 0) words += ", " + in_words(memory, "memory");
  for (const auto& [name, amount] : custom) words += ", " + in_words(amount, name);
  return words;
}

struct Lack {
  Amounts missing;
  double part = 0;  // the sum of missing / asked
};

Lack lack_of(const NodeResources& node, const GangRequest& request) {
  const Amounts there = amounts(node.cores.size(), node.gpus.size(), node.memory, node.custom);
  Lack lack;
  for (const auto& [name, asked] : amounts(request.cpus, request.gpus, request.memory, request.custom)) {
    const auto it = there.find(name);
    const std::uint64_t has = it == there.end() ? 0 : it->second;
    if (has >= asked) continue;
    lack.missing[name] = asked - has;
    lack.part += static_cast<double>(asked - has) / static_cast<double>(asked);
  }
  return lack;
}

}  // namespace

std::string in_words(const GangRequest& request) {
  return in_words(request.cpus, request.gpus, request.memory, request.custom);
}

std::string what_the_closest_lacks(const std::vector<const NodeResources*>& nodes, const GangRequest& request) {
  const auto distance = [&](const NodeResources* node) {
    const Lack lack = lack_of(*node, request);
    return std::pair(lack.missing.size(), lack.part);
  };
  const NodeResources& closest =
      **std::min_element(nodes.begin(), nodes.end(), [&](auto* a, auto* b) { return distance(a) < distance(b); });
  std::string words = "the closest node, " + closest.name + " (" +
                      in_words(closest.cores.size(), closest.gpus.size(), closest.memory, closest.custom) + "), lacks ";
  bool is_first = true;
  for (const auto& [name, amount] : lack_of(closest, request).missing)
    words += (std::exchange(is_first, false) ? "" : " and ") + in_words(amount, name);
  return words;
}

}  // namespace rt
