#pragma once
// The kinds of record by name, in the order of the Record's alternatives: what crash points are named after, so that
// the kill tests can check that every kind has its case.

#include <array>
#include <string_view>

#include "rt/tune/records.h"

namespace rt::tune {

inline constexpr std::array<std::string_view, 11> kRecordKinds{
    "SweepStarted", "Resumed",    "TrialCreated",      "GenerationStarted", "Reported",  "Checkpointed",
    "RankFailed",   "TrialEnded", "CheckpointDropped", "Interrupted",       "SweepEnded"};
static_assert(kRecordKinds.size() == std::variant_size_v<Record>, "a new kind of record needs its name here");

inline std::string_view kind_of(const Record& record) { return kRecordKinds[record.index()]; }

}  // namespace rt::tune
