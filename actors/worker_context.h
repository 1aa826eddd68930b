#pragma once
// What an actor's own code may ask about the process it runs in. Set before the actor is constructed, then constant.

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "rt/actors/program_copy.h"

namespace rt::detail {

class Client;

struct WorkerContext {
  Client* client = nullptr;       // null: this process is no actor's
  std::vector<int> cores;         // of its slots; -1: a slot that the user made up
  std::vector<std::string> gpus;  // UUIDs
  std::vector<int> cpuset;        // what it is pinned to; empty: none in particular
  std::uint64_t actor = 0;
  std::uint32_t incarnation = 0, threads = 0;
  std::string name, name_space;
  JobProgram program;
  std::stop_source stop;
  std::function<void()> leave;   // once the method under way is answered
  std::function<void()> finish;  // now; on the main thread
};

WorkerContext& worker_context();

}  // namespace rt::detail
