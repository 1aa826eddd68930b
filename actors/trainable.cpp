#include "rt/actors/trainable.h"

namespace rt {
namespace {

// The table is filled by static initialisers and constant after main has begun.
std::map<std::string, detail::TrainableFactory, std::less<>>& table() {
  static std::map<std::string, detail::TrainableFactory, std::less<>> factories;
  return factories;
}

}  // namespace

bool detail::register_trainable(std::string_view name, TrainableFactory factory) {
  return table().emplace(name, factory).second;
}

std::unique_ptr<detail::AnyTrainable> make_trainable(std::string_view name) {
  const auto it = table().find(name);
  return it == table().end() ? nullptr : it->second();
}

std::vector<std::string> trainable_names() {
  std::vector<std::string> names;
  for (const auto& [name, factory] : table()) names.push_back(name);
  return names;
}

}  // namespace rt
