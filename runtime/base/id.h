#pragma once
// Ids: names that no two clusters, runs or tokens share. Thread: any.

#include <string>

#include "rt/runtime/base/result.h"

namespace rt {

// 128 random bits from the kernel as 32 hexadecimal digits: nobody can guess one, none comes twice.
Result<std::string> random_id();

}  // namespace rt
