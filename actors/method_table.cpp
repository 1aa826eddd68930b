#include "rt/actors/method_table.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <unordered_map>

namespace rt::detail {
namespace {

struct Tables {
  std::map<std::string, ClassEntry, std::less<>> classes;
  std::unordered_map<std::uint64_t, MethodEntry> methods;
};

// Filled by static initialisers, constant once main has begun: DESIGN's one exception to 'no singletons'.
Tables& tables() {
  static Tables all;
  return all;
}

}  // namespace

bool register_class(std::string_view name, ClassEntry entry) { return tables().classes.emplace(name, entry).second; }

bool register_method(const wire::MethodName& name, MethodEntry entry) {
  entry.is_urgent = name.is_urgent;
  entry.name = name.text;
  return tables().methods.emplace(name.hash, entry).second;
}

// Two functions of one name and signature, each known in its own file only, could not be told apart.
bool register_function(const wire::MethodName& name, Invoke invoke) {
  const auto [it, is_new] = tables().methods.emplace(name.hash, MethodEntry{.invoke = invoke});
  if (is_new || it->second.invoke == invoke) return true;
  std::fprintf(stderr,
               "two functions that are run as tasks are both %.*s: give one another name, or don't make it static\n",
               static_cast<int>(name.text.size()), name.text.data());
  std::abort();
}

ClassEntry find_class(std::string_view name) {
  const auto it = tables().classes.find(name);
  return it == tables().classes.end() ? ClassEntry{} : it->second;
}

MethodEntry find_method(std::uint64_t hash) {
  const auto it = tables().methods.find(hash);
  return it == tables().methods.end() ? MethodEntry{} : it->second;
}

}  // namespace rt::detail
