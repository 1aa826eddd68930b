#include "rt/runtime/device/offer.h"

#include <algorithm>

#include "rt/runtime/base/log.h"
#include "rt/runtime/device/cpus.h"
#include "rt/runtime/device/gpus.h"
#include "rt/runtime/device/memory.h"

namespace rt {
namespace {

// Slots: the machine's cores, or as many as the user said, each with a core while there are as many.
Result<std::vector<int>> slots(int wanted) {
  RT_TRY(share, usable_cpus());
  for (const std::string& notice : share.notices) log::warning("{}", notice);
  const int usable = std::max(1, std::min(share.threads(), static_cast<int>(share.cores.size())));
  share.cores.resize(static_cast<std::size_t>(usable));
  if (wanted <= 0 || wanted == usable) return share.cores;
  return std::vector<int>(static_cast<std::size_t>(wanted), -1);
}

std::vector<std::string> gpus(int simulated) {
  std::vector<std::string> uuids;
  for (int i = 0; i < simulated; ++i) uuids.push_back("simulated-" + std::to_string(i));
  if (simulated == 0)
    for (const auto& gpu : list_gpus().gpus) uuids.push_back(gpu.uuid);
  return uuids;
}

Result<std::uint64_t> memory(std::uint64_t wanted) {
  if (wanted > 0) return wanted;
  RT_TRY(share, usable_memory());
  for (const std::string& notice : share.notices) log::warning("{}", notice);
  return share.bytes;
}

}  // namespace

Result<Offer> node_offer(const Wanted& wanted) {
  RT_TRY(cores, slots(wanted.cpus));
  RT_TRY(bytes, memory(wanted.memory));
  return Offer{std::move(cores), gpus(wanted.simulated_gpus), bytes};
}

}  // namespace rt
