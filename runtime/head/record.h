#pragma once
// A record of the head's journal: who sent a message, then the message; and the replay of such records.

#include <span>
#include <string>
#include <string_view>

#include "rt/runtime/head/head.h"

namespace rt {

std::string head_record(Origin from, std::string_view control, HeadTime now);

// The head of `term` after these records. Code::Corrupt names the record that is too short to be one; a message that
// the head itself found damaged changes nothing then as now.
Result<Head> replay_head(std::uint64_t term, std::span<const std::string> records);

}  // namespace rt
