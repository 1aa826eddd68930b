// What the head passes on for people to read: an actor's word to the drivers, and where actors' logs are.

#include "rt/runtime/head/emit.h"

namespace rt {

void Head::on_say(Origin from, const std::string& what) {
  if (!actor_of_client_.contains(from)) return;
  for (const auto& [driver, facts] : drivers_) emit(driver, 0, [&](Control::Builder control) { control.setSay(what); });
}

// Of those that start from now on: who follows does so before it spawns.
void Head::on_follow_logs(Origin from) { log_followers_.insert(from); }

// One that is told twice of a start (a process that was forked ahead is known before it says hello) follows once.
void Head::tell_followers(std::uint64_t id, const Actor& actor, wire::ActorStarted::Reader started) {
  for (const Origin& follower : log_followers_)
    emit(follower, 0, [&](Control::Builder control) {
      auto begins = control.initLogBegins();
      begins.setActor(id);
      begins.setName(actor.name.second.empty() ? "actor " + std::to_string(id) : actor.name.second);
      begins.setPid(started.getPid());
      begins.setLog(started.getLog());
      begins.setBegin(started.getLogBegin());
    });
}

}  // namespace rt
