#include "rt/tune/records.h"

#include <fmt/format.h>

namespace rt::tune {
namespace {

// The records that belong to one trial have a member `trial`.
template <class T>
concept OfTrial = requires(T t) {
  t.trial;
};

const char* kind_of(const Record& record) {
  static constexpr const char* kNames[] = {"SweepStarted",      "Resumed",      "TrialCreated", "GenerationStarted",
                                           "Reported",          "Checkpointed", "RankFailed",   "TrialEnded",
                                           "CheckpointDropped", "Interrupted",  "SweepEnded"};
  static_assert(std::size(kNames) == std::variant_size_v<Record>);
  return kNames[record.index()];
}

}  // namespace

const char* to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::Continue: return "continue";
    case Verdict::Stop: return "stop";
    case Verdict::Complete: return "complete";
    case Verdict::Condition: return "condition";
    case Verdict::Target: return "target";
  }
  return "?";
}

const char* to_string(EndReason reason) {
  switch (reason) {
    case EndReason::Completed: return "completed";
    case EndReason::StoppedByScheduler: return "stopped by the scheduler";
    case EndReason::StopCondition: return "stop condition";
    case EndReason::ProgramEnded: return "program ended";
    case EndReason::Failed: return "failed";
    case EndReason::TargetReached: return "target reached";
    case EndReason::TargetElsewhere: return "target reached elsewhere";
    case EndReason::GivenUp: return "given up";
  }
  return "?";
}

std::string trial_id(TrialIndex trial) { return fmt::format("{:04}", trial + 1); }

std::string describe(const Record& record) {
  return std::visit(
      [&]<class T>(const T& fields) -> std::string {
        if constexpr (OfTrial<T>) {
          return fmt::format("{} of trial {}", kind_of(record), trial_id(fields.trial));
        } else {
          return kind_of(record);
        }
      },
      record);
}

}  // namespace rt::tune
