#pragma once
// Thrown: what a method threw, as its caller learns of it, however many actors it has come through.

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>

#include "rt/runtime/base/result.h"

namespace rt {

struct Thrown {
  std::string type;   // of the exception, as C++ writes it: "std::out_of_range"
  std::string text;   // what()
  std::string actor;  // where it was thrown: its name, or its number
  std::uint32_t node = 0;
  std::int64_t pid = 0;
  bool operator==(const Thrown&) const = default;
};

// Code::Failed, with all that.
class CallFailed : public Exception {
 public:
  explicit CallFailed(Thrown thrown);
  const Thrown& thrown() const { return thrown_; }

 private:
  Thrown thrown_;
};

namespace detail {

std::string describe(const Thrown& thrown);  // in one line: text, type, place
// `place`: of this process, with type and text empty. What came through from another actor keeps its own.
Result<Thrown> decode_thrown(std::string_view bytes);  // Code::Corrupt where they are none
Thrown thrown_here(const std::exception_ptr& exception, const Thrown& place);

}  // namespace detail
}  // namespace rt
