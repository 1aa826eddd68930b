#include "rt/actors/inspection.h"

#include <algorithm>

#include "rt/actors/client.h"
#include "rt/actors/mailbox.h"
#include "rt/actors/method_table.h"
#include "rt/actors/serving.h"
#include "rt/actors/worker_context.h"
#include "rt/runtime/base/symbols.h"
#include "rt/runtime/base/thread_stacks.h"

namespace rt::detail {
namespace {

Inside inside() {
  const WorkerContext& context = worker_context();
  Inside inside;
  if (!context.serving) return inside;  // it is just taking its actor on
  inside.pending = context.mailbox->pending();
  for (const Serving::Running& call : context.serving->running())
    inside.running.push_back({method_in_words(call.method),
                              std::chrono::duration_cast<std::chrono::milliseconds>(call.time).count(),
                              call.is_coroutine});
  for (const CallUnderWay& call : context.client->under_way())
    if (call.state->is_awaited()) inside.awaited.push_back({call.actor, method_in_words(call.method)});
  return inside;
}

Stacks stacks() {
  Stacks all;
  const auto taken = thread_stacks();
  if (!taken) return {.problem = taken.error().message};
  Symbols symbols;
  for (const ThreadStack& stack : *taken) {
    NamedStack& named =
        all.threads.emplace_back(NamedStack{.thread = stack.thread, .name = stack.name, .problem = stack.problem});
    for (const std::uint64_t address : stack.addresses) {
      const Function function = symbols.at(address);
      named.frames.push_back({function.name, function.module, function.offset});
    }
  }
  return all;
}

}  // namespace

bool register_inspection() {
  return register_method(
             kInspect, {.invoke = [](void*, Decoder&, Encoder& to) { encode(to, inside()); }, .needs_object = false}) &&
         register_method(kStacks,
                         {.invoke = [](void*, Decoder&, Encoder& to) { encode(to, stacks()); }, .needs_object = false});
}

std::string method_in_words(std::string_view name) {
  if (name.starts_with('&')) name.remove_prefix(1);
  return std::string(name);
}

}  // namespace rt::detail
