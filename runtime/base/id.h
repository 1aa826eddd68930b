#pragma once
// Ids: numbers that can't be taken for one another, and names that no two clusters, runs or tokens share.
//
// The head gives numbers out, from 1, never one twice; 0 is "none". Thread: any.

#include <cstdint>
#include <string>
#include <type_traits>

#include "rt/runtime/base/result.h"

namespace rt {

enum class NodeId : std::uint64_t {};
enum class ActorId : std::uint64_t {};
enum class LeaseId : std::uint64_t {};
enum class TrialId : std::uint64_t {};

// Id{3} as "3", for messages.
template <class Id>
requires std::is_enum_v<Id> std::string to_text(Id id) { return std::to_string(static_cast<std::uint64_t>(id)); }

// 128 random bits from the kernel as 32 hexadecimal digits: nobody can guess one, none comes twice.
Result<std::string> random_id();

}  // namespace rt
