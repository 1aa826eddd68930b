#include "rt/rtctl/attach.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <filesystem>

#include "rt/actors/hello.h"
#include "rt/runtime/net/unix_socket.h"

namespace rt {
namespace {

std::string program_of(pid_t pid) {
  std::error_code gone;
  const auto program = std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/exe", gone);
  return gone ? "?" : program.filename().string();
}

std::string list_of(const std::vector<LivingRun>& runs) {
  std::string text;
  for (const LivingRun& run : runs)
    text += "\n  --cluster " + run.id + "   " + program_of(run.driver) + ", pid " + std::to_string(run.driver);
  return text;
}

Result<LivingRun> choose(const std::string& wanted) {
  RT_TRY(runs, living_runs());
  if (runs.empty())
    return Error{Code::NotFound,
                 "no cluster of this user runs on this machine. One lives as long as the program that called "
                 "rt::connect; where that was given RT_RUN_DIR, give it to rtctl too"};
  std::vector<LivingRun> fitting;
  for (const LivingRun& run : runs)
    if (run.id.starts_with(wanted) || run.path == wanted) fitting.push_back(run);
  if (fitting.size() == 1) return fitting.front();
  if (fitting.empty())
    return Error{Code::NotFound, "no living cluster is called " + wanted + "; there are" + list_of(runs)};
  return Error{Code::Invalid, std::to_string(fitting.size()) + " clusters run here; say which one:" + list_of(fitting)};
}

std::optional<ActorId> number_of(const std::string& text) {
  ActorId id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(id) : std::nullopt;
}

}  // namespace

void add_cluster_options(CLI::App& command, ClusterQuestion& question) {
  command.add_option("--cluster", question.cluster, "Its id or the beginning of it [the only one that runs]");
  command.add_option("--namespace", question.name_space, "Of names that stand in it [any]");
  command.add_flag("--json", question.json, "As JSON (docs/debugging.md has the schema)");
}

void add_actor_options(CLI::App& command, ClusterQuestion& question) {
  command.add_option("ACTOR", question.actor, "Its number or its name")->required();
  add_cluster_options(command, question);
}

Result<std::unique_ptr<Attached>> Attached::join(const std::string& cluster) {
  auto attached = std::make_unique<Attached>();
  RT_TRY(run, choose(cluster));
  attached->run_ = run;
  RT_TRY(socket, connect_unix_socket(run.path + "/node.sock"));
  RT_TRY(joined, detail::say_hello(socket.get(), {}));
  attached->client_ =
      detail::Client::start(detail::ClientStart{.io = &attached->io_, .agent_fd = socket.release(), .joined = joined});
  return attached;
}

Result<ActorFacts> Attached::find(const ClusterQuestion& question) {
  const std::string& actor = question.actor;
  RT_TRY(actors, client_->list(question.name_space));
  std::vector<ActorFacts> found;
  const auto id = number_of(actor);
  for (const ActorFacts& one : actors)
    if (one.name == actor || (id && one.id == *id)) found.push_back(one);
  if (found.size() == 1) return found.front();
  if (found.empty())
    return Error{Code::NotFound, "no living actor has the name or number " + actor +
                                     (question.name_space.empty() ? "" : " in namespace " + question.name_space) +
                                     "; rtctl actors lists those that live"};
  std::string places;
  for (const ActorFacts& one : found) places += "\n  --namespace " + one.name_space + "   " + std::to_string(one.id);
  return Error{Code::Invalid,
               std::to_string(found.size()) + " actors have the name " + actor + "; say which one:" + places};
}

std::string state_text(ActorState state) {
  switch (state) {
    case ActorState::Pending: return "pending";
    case ActorState::Starting: return "starting";
    case ActorState::Running: return "running";
    case ActorState::Restarting: return "restarting";
    case ActorState::Stopping: return "stopping";
  }
  return "?";
}

}  // namespace rt
