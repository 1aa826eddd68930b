#pragma once
// TrialRank: the actor that is one rank of a trial. The tuner, in another program, calls it through wire/trial.capnp.
//
// Class name "rt.trial"; its methods take and return the bytes of that schema's structs, a caller gets what they return
// in a TrialAnswer. `setup`, `step` and `save` run
// on the worker's main thread in order, `stop` at once on its control thread (a program's next report may be long in
// coming). A trainable of this program, or a program in any language: whatever TrialSetup names.

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "rt/actors/program/program_rank.h"
#include "rt/actors/trainable.h"
#include "rt/runtime/wire/call.h"

namespace rt::detail {

class TrialRank {
 public:
  std::string setup(const std::string& trial_setup);  // TrialSetup -> TrialReady
  std::string step(const std::string& trial_step);    // TrialStep -> TrialReport
  std::string save(const std::string& trial_save);    // TrialSave -> TrialSaved
  std::string stop(const std::string& trial_stop);    // TrialStop -> TrialStopped

 private:
  AnyTrainable& trainable(const char* asked);
  std::shared_ptr<ProgramRank> program();

  RankContext context_;
  std::unique_ptr<AnyTrainable> trainable_;
  std::mutex mutex_;                      // guards the pointer: `stop` may come while `setup` still runs
  std::shared_ptr<ProgramRank> program_;  // set once it has started
};

// Puts class and methods into the method table; called before a worker begins.
bool register_trial_rank();

inline constexpr std::string_view kTrialClass = "rt.trial";
inline constexpr wire::MethodName kTrialSetup = "rt.trial.setup";
inline constexpr wire::MethodName kTrialStep = "rt.trial.step";
inline constexpr wire::MethodName kTrialSave = "rt.trial.save";
inline constexpr wire::MethodName kTrialStop{"rt.trial.stop", /*urgent=*/true};

}  // namespace rt::detail
