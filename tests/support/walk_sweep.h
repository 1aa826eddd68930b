#pragma once
// The sweep that the kill tests disturb: five trials of tests/programs/walk on one slot. ASHA stops trial 3 at the
// first rung; trial 2 falls once, after a step that is recorded and in no checkpoint; old checkpoints are dropped. So
// every kind of record that an undisturbed sweep can have is in its journal.

#include <string>
#include <vector>

#include "rt/tests/support/sandbox.h"

namespace rt::testing {

inline std::string test_program(const std::string& name) { return std::string(RT_BUILD_DIR) + "/test-bin/" + name; }

inline std::string walk_sweep(int linger_ms = 0) {
  return "name: walk\nprogram: " + test_program("walk") + "\n" + R"(trainable: Walk
method: grid
metric: {name: score, goal: maximize}
parameters:
  gain: {values: [2, 3, 1, 5, 4]}
  fall_trial: {value: "0002"}
  fall_step: {value: 6}
  linger_ms: {value: )" +
         std::to_string(linger_ms) + R"(}
scheduler: {type: asha, min_iter: 1, max_iter: 9, eta: 3}
checkpoint: {every: 2, keep: 1}
max_failures: 2
)";
}

// The step in which trial 2's second generation does again what its first one had reported.
inline constexpr const char* kRepeatedStep = "0002/2/5";

// Starts the sweep in sandbox/sweep; `more`: further arguments.
inline Command start_walk(const Sandbox& sandbox, std::vector<std::string> environment = {}, int linger_ms = 0,
                          std::vector<std::string> more = {}) {
  std::vector<std::string> arguments{"tune",   sandbox.write("walk.yaml", walk_sweep(linger_ms)).string(),
                                     "--dir",  (sandbox / "sweep").string(),
                                     "--cpus", "1"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return sandbox.rtctl(std::move(arguments), std::move(environment));
}

inline Command resume(const Sandbox& sandbox, std::vector<std::string> environment = {}) {
  return sandbox.rtctl({"tune", "--resume", (sandbox / "sweep").string(), "--cpus", "1"}, std::move(environment));
}

// What the sweep comes to when nothing disturbs it.
inline Outcome undisturbed() {
  const Sandbox sandbox;
  const Ended ended = start_walk(sandbox).wait();
  if (ended.exit_code != 0) throw std::runtime_error("the undisturbed sweep failed: " + ended.output + ended.errors);
  return outcome_of(sandbox, sandbox / "sweep");
}

}  // namespace rt::testing
