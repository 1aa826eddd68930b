#pragma once
// What an actor's own code may ask about the process it runs in. Set before the actor is constructed, then constant.

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "rt/actors/program_copy.h"

namespace rt {
class Self;
}

namespace rt::detail {

class Client;

// Thrown through an actor's method where its end isn't that of a process (inline/worker.h).
struct WorkerEnds {};

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
  class Serving* serving = nullptr;
  class Mailbox* mailbox = nullptr;
  std::shared_ptr<Self> self;  // make_self's
  bool is_inline = false;      // its process is the driver's too

  std::string words() const { return name.empty() ? "actor " + std::to_string(actor) : name; }
};

// The process's one actor; where there are several, whichever has its turn on this thread.
WorkerContext& worker_context();
void set_worker_context(WorkerContext* context);  // of this thread; null: the process's own
std::shared_ptr<Self> make_self(WorkerContext& context);

}  // namespace rt::detail
