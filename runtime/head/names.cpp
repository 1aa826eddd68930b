// The head's names: actors found and listed by them, and who is who in words.

#include "rt/runtime/head/emit.h"

namespace rt {

using wire::text;

std::string Head::name_space_of(Origin client) const {
  if (const auto actor = actor_of_client_.find(client); actor != actor_of_client_.end())
    return actors_.at(actor->second).name.first;
  const auto driver = drivers_.find(client);
  return driver == drivers_.end() ? kDefaultNameSpace : driver->second.name_space;
}

std::string Head::who(Origin client) const {
  if (const auto actor = actor_of_client_.find(client); actor != actor_of_client_.end())
    return in_words(actor->second, actors_.at(actor->second));
  const auto driver = drivers_.find(client);
  if (driver == drivers_.end()) return "client " + std::to_string(client.client);
  return "the driver (pid " + std::to_string(driver->second.pid) + ")";
}

std::string Head::in_words(std::uint64_t id, const Actor& actor) {
  const std::string name = actor.name.second.empty() ? std::to_string(id) : "'" + actor.name.second + "'";
  return "actor " + name + " (" + actor.class_name + (actor.pid == 0 ? "" : ", pid " + std::to_string(actor.pid)) + ")";
}

void Head::on_lookup(Origin from, wire::ActorName::Reader asked, std::uint64_t request) {
  Name wanted{text(asked.getNameSpace()), text(asked.getName())};
  if (wanted.first.empty()) wanted.first = name_space_of(from);
  const auto it = names_.find(wanted);
  if (it != names_.end())
    return emit(from, request, [&](Control::Builder control) {
      fill_started(control.initReply().initActor(), it->second, actors_.at(it->second));
    });
  std::string message = "no living actor has the name '" + wanted.second + "' in namespace '" + wanted.first + "'";
  for (const auto& [name, id] : names_)
    if (name.second == wanted.second) message += "; there is one in namespace '" + name.first + "'";
  fail(from, request, {Code::NotFound, message});
}

void Head::on_list(Origin from, const std::string& name_space, std::uint64_t request) {
  using State = wire::ActorFacts::State;
  const auto state_of = [](const Actor& actor) {
    if (actor.is_down) return State::RESTARTING;
    if (actor.end) return State::STOPPING;
    if (actor.node == 0) return State::PENDING;
    return actor.started ? State::RUNNING : State::STARTING;
  };
  std::vector<std::pair<std::uint64_t, const Actor*>> listed;
  for (const auto& [id, actor] : actors_)
    if (name_space.empty() || actor.name.first == name_space) listed.emplace_back(id, &actor);
  emit(from, request, [&](Control::Builder control) {
    auto facts = control.initReply().initActors(static_cast<unsigned>(listed.size()));
    for (unsigned i = 0; i < listed.size(); ++i) {
      const auto& [id, actor] = listed[i];
      facts[i].setActor(id);
      facts[i].setName(actor->name.second);
      facts[i].setNameSpace(actor->name.first);
      facts[i].setClass(actor->class_name);
      facts[i].setState(state_of(*actor));
      facts[i].setNode(actor->node);
      facts[i].setPid(actor->started ? actor->pid : 0);
      facts[i].setIncarnation(actor->incarnation);
      facts[i].setDetached(actor->detached);
      facts[i].setLastError(actor->last_error);
      facts[i].setParent(actor->parent);
      (void)wire::with_message<wire::Spawn>(actor->spawn, [&](auto spawn) { facts[i].setLog(spawn.getLog()); });
    }
  });
}

}  // namespace rt
