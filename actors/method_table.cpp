#include "rt/actors/method_table.h"

#include <map>
#include <string>
#include <unordered_map>

namespace rt::detail {
namespace {

struct Tables {
  std::map<std::string, Construct, std::less<>> classes;
  std::unordered_map<std::uint64_t, MethodEntry> methods;
};

// Filled by static initialisers, constant once main has begun: DESIGN's one exception to 'no singletons'.
Tables& tables() {
  static Tables all;
  return all;
}

}  // namespace

bool register_class(std::string_view name, Construct construct) {
  return tables().classes.emplace(name, construct).second;
}

bool register_method(wire::MethodName name, Invoke invoke) {
  return tables().methods.emplace(name.hash, MethodEntry{invoke, nullptr, name.is_urgent, true, name.text}).second;
}

bool register_process_method(wire::MethodName name, Invoke invoke) {
  return tables().methods.emplace(name.hash, MethodEntry{invoke, nullptr, name.is_urgent, false, name.text}).second;
}

bool register_coroutine(wire::MethodName name, Begin begin) {
  return tables().methods.emplace(name.hash, MethodEntry{nullptr, begin, name.is_urgent, true, name.text}).second;
}

Construct find_class(std::string_view name) {
  const auto it = tables().classes.find(name);
  return it == tables().classes.end() ? nullptr : it->second;
}

MethodEntry find_method(std::uint64_t hash) {
  const auto it = tables().methods.find(hash);
  return it == tables().methods.end() ? MethodEntry{} : it->second;
}

}  // namespace rt::detail
