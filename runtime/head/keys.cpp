// The head's key-value space as clients see it: a worker in a gang sees the gang's own keys, all others share one
// space.

#include "rt/runtime/head/emit.h"

namespace rt {
namespace {

std::vector<std::string> prefixed(const std::string& prefix, capnp::List<capnp::Text>::Reader keys) {
  std::vector<std::string> names;
  for (const auto key : keys) names.push_back(prefix + wire::text(key));
  return names;
}

}  // namespace

std::string Head::key_prefix(Origin client) const {
  const auto it = actor_of_client_.find(client);
  const LeaseId gang = it == actor_of_client_.end() ? 0 : actors_.at(it->second).lease;
  return gang == 0 ? "shared/" : "lease/" + std::to_string(gang) + "/";
}

void Head::on_key_value(Origin from, std::uint64_t request, wire::KeyValueRequest::Reader asked) {
  using Asked = wire::KeyValueRequest;
  const std::string prefix = key_prefix(from);
  const KeyValueSpace::Waiter self{from.node, from.client, request};
  std::vector<KeyValueSpace::Answer> answers;
  auto answer = [&](auto&& fill) {
    emit(from, request, [&](Control::Builder control) { fill(control.initReply().initKeyValue()); });
  };

  switch (asked.which()) {
    case Asked::SET: {
      auto set = keys_.set(prefix + wire::text(asked.getSet().getKey()), wire::data(asked.getSet().getValue()));
      if (!set) return fail(from, request, set.error());
      answers = *std::move(set);
      answer([](auto) {});
      break;
    }
    case Asked::GET: answers = keys_.get(self, prefixed(prefix, asked.getGet())); break;
    case Asked::ADD: {
      const auto sum = keys_.add(prefix + wire::text(asked.getAdd().getKey()), asked.getAdd().getAmount(), answers);
      if (!sum) return fail(from, request, sum.error());
      answer([&](auto reply) { reply.setNumber(*sum); });
      break;
    }
    case Asked::COMPARE_SET: {
      const auto swap = asked.getCompareSet();
      const auto value = keys_.compare_set(prefix + wire::text(swap.getKey()), wire::data(swap.getExpected()),
                                           wire::data(swap.getDesired()), answers);
      if (!value) return fail(from, request, value.error());
      answer([&](auto reply) { reply.setValue(wire::as_data(*value)); });
      break;
    }
    case Asked::CHECK: {
      const bool found = keys_.check(prefixed(prefix, asked.getCheck()));
      answer([&](auto reply) { reply.setFound(found); });
      break;
    }
    case Asked::REMOVE: {
      const bool found = keys_.remove(prefix + wire::text(asked.getRemove()));
      answer([&](auto reply) { reply.setFound(found); });
      break;
    }
    case Asked::CANCEL: keys_.cancel({from.node, from.client, asked.getCancel()}); break;
  }
  for (const auto& found : answers)
    emit({found.to.node, found.to.client}, found.to.request,
         [&](Control::Builder control) { control.initReply().initKeyValue().setValue(wire::as_data(found.value)); });
}

}  // namespace rt
