// rtctl actor: one actor, what it is doing and what it died of before.

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>

#include "rt/actors/future.h"
#include "rt/actors/inspection.h"
#include "rt/actors/watch.h"
#include "rt/rtctl/attach.h"
#include "rt/rtctl/commands.h"
#include "rt/rtctl/facts_json.h"
#include "rt/rtctl/print.h"

namespace rt {
namespace {

using detail::Inside;

constexpr std::chrono::milliseconds kAnswerLimit{1000};

Result<Inside> look_inside(detail::Client& client, const ActorFacts& actor) {
  if (actor.pid == 0) return Error{Code::Unavailable, "it has no process now"};
  auto inside = Future<Inside>(client.call(actor.id, detail::kInspect, "")).result(kAnswerLimit);
  if (inside || inside.error().code != Code::Deadline) return inside;
  return Error{Code::Deadline, "its process did not answer within " + std::to_string(kAnswerLimit.count()) +
                                   " ms: it may be stopped (state T in ps), or in a debugger"};
}

std::string seconds(std::int64_t milliseconds) {
  return fmt::format("{:.{}f} s", static_cast<double>(milliseconds) / 1000, milliseconds < 10'000 ? 2 : 0);
}

void print_inside(const Inside& inside) {
  if (inside.running.empty()) print("runs now      nothing\n");
  for (const auto& call : inside.running)
    print("runs now      {}, for {}{}\n", call.method, seconds(call.milliseconds),
          call.is_coroutine ? " (a coroutine)" : "");
  for (const auto& call : inside.awaited) print("waits for     actor {}: {}\n", call.actor, call.method);
  print("pending       {} call{}\n", inside.pending, inside.pending == 1 ? "" : "s");
}

void print_actor(const ActorFacts& actor, const Result<Inside>& inside) {
  print("actor         {}{}\n", actor.id, actor.name.empty() ? "" : " '" + actor.name + "'");
  print("class         {}\n", actor.class_name);
  print("namespace     {}\n", actor.name_space);
  print("state         {}\n", state_text(actor.state));
  print("process       {}\n", actor.pid == 0 ? "none" : fmt::format("pid {} on node {}", actor.pid, actor.node));
  print("incarnation   {} ({} restart{})\n", actor.incarnation, actor.incarnation - 1,
        actor.incarnation == 2 ? "" : "s");
  print("parent        {}{}\n", actor.parent, actor.detached ? " (it is detached)" : "");
  if (inside)
    print_inside(*inside);
  else
    print("inside        unknown: {}\n", inside.error().message);
  if (!actor.last_error.empty()) print("last error    {}\n", actor.last_error);
  if (!actor.log.empty()) print("log           {}\n", actor.log);
}

nlohmann::ordered_json actor_json(const ActorFacts& actor, const Result<Inside>& inside) {
  nlohmann::ordered_json all = facts_json(actor);
  if (!inside) {
    all["problem"] = inside.error().message;
    return all;
  }
  all["pending"] = inside->pending;
  all["running"] = nlohmann::ordered_json::array();
  for (const auto& call : inside->running)
    all["running"].push_back({{"method", call.method},
                              {"seconds", static_cast<double>(call.milliseconds) / 1000},
                              {"coroutine", call.is_coroutine}});
  all["waits_for"] = nlohmann::ordered_json::array();
  for (const auto& call : inside->awaited) all["waits_for"].push_back({{"actor", call.actor}, {"method", call.method}});
  return all;
}

// The head remembers the last thousand that have ended.
int show_ended(detail::Client& client, const ClusterQuestion& question, const Error& not_found) {
  char* end = nullptr;
  const ActorId id = std::strtoull(question.actor.c_str(), &end, 10);
  if (*end != '\0' || not_found.code != Code::NotFound) return complain(not_found.message, kWrong);
  const auto death = Watch(client, id, nullptr).next(kAnswerLimit);
  if (!death) return complain(not_found.message, kWrong);
  if (question.json) {
    const nlohmann::ordered_json all{{"id", id},
                                     {"state", "ended"},
                                     {"incarnation", death->incarnation},
                                     {"last_error", death->cause},
                                     {"last_lines", death->last_lines}};
    print("{}\n", json_text(all));
  } else {
    print("actor         {}\nstate         ended\nincarnation   {}\nlast error    {}\n", id, death->incarnation,
          death->cause);
    if (!death->last_lines.empty()) print("its last lines:\n{}", death->last_lines);
  }
  return with_output_written(0);
}

int show_actor(const ClusterQuestion& question) {
  const auto attached = Attached::join(question.cluster);
  if (!attached) return complain(attached.error().message, kWrong);
  detail::Client& client = (*attached)->client();
  const auto actor = (*attached)->find(question);
  if (!actor) return show_ended(client, question, actor.error());
  const auto inside = look_inside(client, *actor);
  if (question.json)
    print("{}\n", json_text(actor_json(*actor, inside)));
  else
    print_actor(*actor, inside);
  return with_output_written(0);
}

}  // namespace

void add_actor(CLI::App& app, int& exit_code) {
  const auto question = std::make_shared<ClusterQuestion>();
  CLI::App* command = app.add_subcommand("actor", "One actor: what it does now, and what it died of before");
  add_actor_options(*command, *question);
  command->callback([question, &exit_code] { exit_code = show_actor(*question); });
}

}  // namespace rt
