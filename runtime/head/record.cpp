#include "rt/runtime/head/record.h"

#include <cstring>

namespace rt {
namespace {

struct Prefix {
  std::uint64_t client;
  std::uint64_t node;
  std::int64_t now;  // HeadTime
};
static_assert(sizeof(Prefix) == 24);  // a multiple of 8: the message behind it stays aligned

}  // namespace

std::string head_record(Origin from, std::string_view control, HeadTime now) {
  const Prefix prefix{from.client, from.node, now.count()};
  std::string record(reinterpret_cast<const char*>(&prefix), sizeof prefix);
  return record.append(control);
}

Result<Head> replay_head(std::uint64_t term, std::span<const std::string> records) {
  Head head(term);
  for (std::size_t i = 0; i < records.size(); ++i) {
    const std::string_view record = records[i];
    if (record.size() < sizeof(Prefix))
      return Error{Code::Corrupt, "record " + std::to_string(i) + " of the head's journal has " +
                                      std::to_string(record.size()) + " bytes, fewer than say who sent it and when"};
    Prefix prefix;
    std::memcpy(&prefix, record.data(), sizeof prefix);
    (void)head.handle({static_cast<NodeId>(prefix.node), prefix.client}, record.substr(sizeof prefix),
                      HeadTime(prefix.now));
  }
  return head;
}

}  // namespace rt
