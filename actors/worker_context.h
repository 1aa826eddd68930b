#pragma once
// What an actor's own code may ask about the process it runs in. Set before the actor is constructed, then constant.

#include <string>
#include <vector>

namespace rt::detail {

class Client;

struct WorkerContext {
  Client* client = nullptr;
  std::vector<int> cores;         // -1: a slot that the user made up
  std::vector<std::string> gpus;  // UUIDs
};

WorkerContext& worker_context();

}  // namespace rt::detail
