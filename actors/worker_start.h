#pragma once
// What an actor's process, or who stands in for it, is told of the actor that it is to be, and how that comes to life.

#include <cstdint>
#include <string>
#include <vector>

#include "rt/actors/client.h"
#include "rt/actors/method_table.h"
#include "rt/actors/serving.h"
#include "rt/actors/worker_context.h"
#include "rt/runtime/wire/control.capnp.h"

namespace rt::detail {

struct WorkerStart {
  std::uint64_t actor = 0;
  std::uint32_t incarnation = 0;
  std::string class_name, arguments, directory, log;
  std::vector<std::string> environment, gpus;
  std::vector<int> cores;
  std::vector<int> cpuset;  // what was asked for, then what it is pinned to
  std::uint32_t threads = 0, concurrency = 1;
  std::vector<std::pair<std::string, std::uint32_t>> groups;
  std::string name, name_space;
  JobProgram program;
};

WorkerStart read_worker_start(wire::StartWorker::Reader from);

WorkerContext context_of(const WorkerStart& start, Client& client);

// Code::NotFound: this program has no such class. Failed: the constructor threw, and the head was told what.
Result<AnyObject> construct(const WorkerStart& start, Client& client);
Serving::Actor take_up(const WorkerStart& start, AnyObject object, Client& client);  // what is to be served

}  // namespace rt::detail
