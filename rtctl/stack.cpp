// rtctl stack: the native stacks of an actor's threads, told by its process itself.

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <memory>

#include "rt/actors/future.h"
#include "rt/actors/inspection.h"
#include "rt/rtctl/attach.h"
#include "rt/rtctl/commands.h"
#include "rt/rtctl/facts_json.h"
#include "rt/rtctl/print.h"

namespace rt {
namespace {

using detail::Stacks;

constexpr std::chrono::milliseconds kStackLimit{3000};  // it waits for its threads, and reads files

void print_stacks(const ActorFacts& actor, const Stacks& stacks) {
  print("actor {}{} ({}), pid {}\n", actor.id, actor.name.empty() ? "" : " '" + actor.name + "'", actor.class_name,
        actor.pid);
  for (const auto& thread : stacks.threads) {
    print("\nthread {} {}{}\n", thread.thread, thread.name, thread.thread == actor.pid ? " (its methods)" : "");
    if (!thread.problem.empty()) print("  {}\n", thread.problem);
    std::size_t number = 0;
    for (const auto& frame : thread.frames) {
      const std::string file = std::filesystem::path(frame.module).filename().string();
      print("  #{:<3}{} in {}+{:#x}\n", number++, frame.function.empty() ? "?" : frame.function, file, frame.offset);
    }
  }
}

nlohmann::ordered_json stacks_json(const ActorFacts& actor, const Stacks& stacks) {
  auto threads = nlohmann::ordered_json::array();
  for (const auto& thread : stacks.threads) {
    auto frames = nlohmann::ordered_json::array();
    for (const auto& frame : thread.frames)
      frames.push_back({{"function", frame.function}, {"file", frame.module}, {"offset", frame.offset}});
    threads.push_back({{"thread", thread.thread}, {"name", thread.name}, {"frames", frames}});
    if (!thread.problem.empty()) threads.back()["problem"] = thread.problem;
  }
  auto all = facts_json(actor);
  all["threads"] = threads;
  return all;
}

int show_stack(const ClusterQuestion& question) {
  const auto attached = Attached::join(question.cluster);
  if (!attached) return complain(attached.error().message, kWrong);
  const auto actor = (*attached)->find(question);
  if (!actor) return complain(actor.error().message, kWrong);
  if (actor->pid == 0)
    return complain(fmt::format("the actor {} has no process now: it is {}", question.actor, state_text(actor->state)),
                    kFailed);
  const auto stacks = Future<Stacks>((*attached)->client().call(actor->id, detail::kStacks, "")).result(kStackLimit);
  if (!stacks && stacks.error().code == Code::Deadline)
    return complain(fmt::format("process {} did not answer within {} s: it may be stopped (state T in ps), or in a "
                                "debugger; as root: gdb -p {} -batch -ex 'thread apply all bt'",
                                actor->pid, kStackLimit.count() / 1000, actor->pid),
                    kFailed);
  if (!stacks) return complain(stacks.error().message, kFailed);
  if (!stacks->problem.empty()) return complain(stacks->problem, kFailed);
  if (question.json)
    print("{}\n", json_text(stacks_json(*actor, *stacks)));
  else
    print_stacks(*actor, *stacks);
  return with_output_written(0);
}

}  // namespace

void add_stack(CLI::App& app, int& exit_code) {
  const auto question = std::make_shared<ClusterQuestion>();
  CLI::App* command = app.add_subcommand("stack", "The stacks of all of an actor's threads, also while a method runs");
  add_actor_options(*command, *question);
  command->callback([question, &exit_code] { exit_code = show_stack(*question); });
}

}  // namespace rt
