#pragma once
// What is known of an actor, as JSON: a line of `rtctl actors --json`, and the beginning of `rtctl actor --json`.

#include <nlohmann/json.hpp>

#include "rt/rtctl/attach.h"

namespace rt {

inline nlohmann::ordered_json facts_json(const ActorFacts& actor) {
  return {{"id", actor.id},
          {"name", actor.name},
          {"namespace", actor.name_space},
          {"class", actor.class_name},
          {"state", state_text(actor.state)},
          {"pid", actor.pid},
          {"node", actor.node},
          {"incarnation", actor.incarnation},
          {"restarts", actor.incarnation - 1},
          {"detached", actor.detached},
          {"parent", actor.parent},
          {"last_error", actor.last_error},
          {"log", actor.log}};
}

// What is no UTF-8 in it is replaced.
inline std::string json_text(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace rt
