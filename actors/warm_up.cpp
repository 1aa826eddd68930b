#include "rt/actors/warm_up.h"

#include <vector>

namespace rt::detail {
namespace {

std::vector<WarmUp>& table() {
  static std::vector<WarmUp> all;  // filled by static initialisers, constant once main has begun
  return all;
}

}  // namespace

bool register_warm_up(WarmUp warm_up) {
  table().push_back(warm_up);
  return true;
}

void run_warm_ups() {
  for (const WarmUp run : table()) run();
}

}  // namespace rt::detail
