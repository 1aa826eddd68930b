#include "rt/actors/method_table.h"

#include <cstdio>
#include <cstdlib>
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
  return tables().methods.emplace(name.hash, MethodEntry{invoke, nullptr, name.is_urgent}).second;
}

// Two functions of one name and signature, each known in its own file only, could not be told apart.
bool register_function(wire::MethodName name, Invoke invoke) {
  const auto [it, is_new] = tables().methods.emplace(name.hash, MethodEntry{invoke, nullptr, false});
  if (is_new || it->second.invoke == invoke) return true;
  std::fprintf(stderr,
               "two functions that are run as tasks are both %.*s: give one another name, or don't make it static\n",
               static_cast<int>(name.text.size()), name.text.data());
  std::abort();
}

bool register_coroutine(wire::MethodName name, Begin begin) {
  return tables().methods.emplace(name.hash, MethodEntry{nullptr, begin, name.is_urgent}).second;
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
