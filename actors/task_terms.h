#pragma once
// How a task is run, and by whom: what the templates of task_run.h need of the pool.

#include <chrono>
#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "rt/actors/future.h"
#include "rt/runtime/wire/call.h"

namespace rt {

struct JobProgram;

namespace detail {

// What a task holds while it runs.
struct TaskShape {
  std::uint32_t cpus = 1, gpus = 0;
  auto operator<=>(const TaskShape&) const = default;
};

struct TaskTerms {
  TaskShape shape;
  int retries = 0;  // after the death of the process that it ran in
  std::chrono::nanoseconds deadline{0};
};

class TaskStarter {
 public:
  using Write = std::function<void(Encoder&)>;  // the arguments; throws what fails the task
  // `needs`: what has to be complete before the arguments are written.
  virtual std::shared_ptr<CallState> run(const wire::MethodName& function, Write write,
                                         const std::vector<std::shared_ptr<CallState>>& needs, const TaskTerms& terms,
                                         const JobProgram& program) = 0;
  virtual void use_broker(std::uint64_t broker) = 0;  // an actor's id

 protected:
  ~TaskStarter() = default;
};

}  // namespace detail
}  // namespace rt
