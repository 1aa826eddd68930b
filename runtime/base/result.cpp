#include "rt/runtime/base/result.h"

#include <cerrno>
#include <cstring>

namespace rt {

const char* to_string(Code code) {
  switch (code) {
    case Code::Invalid: return "Invalid";
    case Code::NotFound: return "NotFound";
    case Code::Unavailable: return "Unavailable";
    case Code::NotSent: return "NotSent";
    case Code::MaybeRan: return "MaybeRan";
    case Code::Failed: return "Failed";
    case Code::Deadline: return "Deadline";
    case Code::Cancelled: return "Cancelled";
    case Code::Deadlock: return "Deadlock";
    case Code::Refused: return "Refused";
    case Code::Corrupt: return "Corrupt";
    case Code::System: return "System";
    case Code::Lost: return "Lost";
    case Code::NoSpace: return "NoSpace";
  }
  return "?";
}

Error system_error(std::string what, int number) {
  const bool is_full = number == ENOSPC || number == EDQUOT;
  return {is_full ? Code::NoSpace : Code::System, std::move(what) + ": " + std::strerror(number)};
}

}  // namespace rt
