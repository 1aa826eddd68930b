#include "rt/actors/collective/meeting.h"

#include <fstream>
#include <system_error>
#include <vector>

namespace rt::train {
namespace {

std::string place_key(const RankContext& context, int rank) {
  return context.group_prefix() + "place/" + std::to_string(rank);
}

bool is_loopback(std::string_view address) {
  return address.starts_with("127.") || address == "::1" || address == "localhost";
}

Error missing(const RankContext& context, const std::vector<std::string>& keys, const Error& cause) {
  std::string ranks;
  for (int rank = 0; rank < context.size; ++rank) {
    const auto is_there = context.store->check({keys[rank]});
    if (is_there && !*is_there) ranks += (ranks.empty() ? "" : ", ") + std::to_string(rank);
  }
  if (ranks.empty()) return cause;
  return {cause.code, "rank " + std::to_string(context.rank) + " of trial " + context.trial_id + " (generation " +
                          std::to_string(context.generation) + ", " + std::to_string(context.size) +
                          " ranks) waited in vain for rank " + ranks + "; its log says why it didn't come"};
}

}  // namespace

std::string network_identity() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  std::error_code ignored;  // without /proc the boot id alone must do
  return boot + "/" + std::filesystem::read_symlink("/proc/self/ns/net", ignored).string();
}

Status meet(const RankContext& context, std::string_view network, std::string_view address,
            std::chrono::milliseconds deadline) {
  const std::string own = std::string(network) + " " + std::string(address);
  RT_CHECK(context.store->set(place_key(context, context.rank), own));

  std::vector<std::string> keys;
  for (int rank = 0; rank < context.size; ++rank) keys.push_back(place_key(context, rank));
  if (const auto all = context.store->wait(keys, deadline); !all) return missing(context, keys, all.error());

  for (int rank = 0; rank < context.size; ++rank) {
    RT_TRY(place, context.store->get(keys[rank], deadline));
    if (place.starts_with(std::string(network) + " ")) continue;
    const std::string their_address = place.substr(place.rfind(' ') + 1);
    if (!is_loopback(address) && !is_loopback(their_address)) continue;
    return Error{Code::Invalid, "ranks " + std::to_string(context.rank) + " (" + std::string(address) + ") and " +
                                    std::to_string(rank) + " (" + their_address +
                                    ") are on different nodes, and a loopback address doesn't reach another node; give "
                                    "each the address of an interface that the other can reach"};
  }
  return Unit{};
}

}  // namespace rt::train
