#include "rt/actors/worker_start.h"

#include <unistd.h>

#include <algorithm>
#include <exception>

#include "rt/runtime/wire/message.h"

namespace rt::detail {
namespace {

using wire::text;

// A worker leaves by a call to itself: on the main thread, when the method under way has been answered.
constexpr wire::MethodName kLeave = "rt.leave";
const bool leave_is_registered =
    register_method(kLeave, {.invoke = [](void*, Decoder&, Encoder&) { worker_context().finish(); }, .is_first = true});

thread_local WorkerContext* context_of_turn = nullptr;

}  // namespace

WorkerContext& worker_context() {
  static WorkerContext of_process;  // set before its one actor's constructor runs
  return context_of_turn ? *context_of_turn : of_process;
}

void set_worker_context(WorkerContext* context) { context_of_turn = context; }

WorkerStart read_worker_start(wire::StartWorker::Reader from) {
  const auto spawn = from.getSpawn();
  WorkerStart start = {.actor = from.getActor(),
                       .incarnation = from.getIncarnation(),
                       .class_name = text(spawn.getClass()),
                       .arguments = wire::data(spawn.getArguments()),
                       .directory = text(spawn.getDirectory()),
                       .log = text(spawn.getLog()),
                       .threads = spawn.getThreads() > 0 ? spawn.getThreads() : spawn.getCpus(),
                       .name = text(spawn.getName()),
                       .name_space = text(spawn.getNameSpace()),
                       .program = {text(spawn.getProgram().getPath()), text(spawn.getProgram().getHash())}};
  start.concurrency = std::max<std::uint32_t>(1, spawn.getConcurrency());
  for (const auto group : spawn.getGroups())
    start.groups.emplace_back(text(group.getName()), std::max<std::uint32_t>(1, group.getThreads()));
  for (const auto core : spawn.getCpuset()) start.cpuset.push_back(core);
  for (const auto entry : spawn.getEnvironment()) start.environment.push_back(text(entry));
  for (const auto gpu : from.getBundle().getGpus()) start.gpus.push_back(text(gpu));
  for (const auto core : from.getBundle().getCores()) start.cores.push_back(core);
  return start;
}

WorkerContext context_of(const WorkerStart& start, Client& client) {
  WorkerContext context{.client = &client,
                        .cores = start.cores,
                        .gpus = start.gpus,
                        .cpuset = start.cpuset,
                        .actor = start.actor,
                        .incarnation = start.incarnation,
                        .threads = start.threads,
                        .name = start.name,
                        .name_space = start.name_space,
                        .program = start.program,
                        .leave = [&client, actor = start.actor] { (void)client.send(actor, kLeave, ""); }};
  return context;
}

Serving::Actor take_up(const WorkerStart& start, AnyObject object, Client& client) {
  return {.object = std::move(object),
          .of = find_class(start.class_name).of,
          .context = &client,
          .place = {.actor = start.name.empty() ? std::to_string(start.actor) : start.name,
                    .node = client.node(),
                    .pid = ::getpid()},
          .threads = start.concurrency,
          .groups = start.groups};
}

Result<AnyObject> construct(const WorkerStart& start, Client& client) {
  const Construct make = find_class(start.class_name).construct;
  if (!make)
    return Error{Code::NotFound, "this program has no actor class " + start.class_name +
                                     " with such a constructor; was it built again?"};
  std::string thrown = "what is no std::exception";
  try {
    Decoder from(start.arguments, &client);
    return make(from);
  } catch (const WorkerEnds&) {
    throw;
  } catch (const std::exception& e) {
    thrown = e.what();
  } catch (...) {
  }
  (void)client.constructor_threw(thrown);  // where it can't be told, the log says it
  return Error{Code::Failed, "the constructor threw: " + thrown};
}

}  // namespace rt::detail
