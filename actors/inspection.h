#pragma once
// Inspection: what an actor's process says of itself to who asks from outside (rtctl), also while a method runs and
// never ends, and while it is being constructed. Urgent calls, answered on its control thread.

#include <cstdint>
#include <string>
#include <vector>

#include "rt/runtime/wire/call.h"

namespace rt::detail {

struct RunningNow {
  std::string method;
  std::int64_t milliseconds = 0;  // since it began
  bool is_coroutine = false;
};

struct AwaitedNow {
  std::uint64_t actor = 0;
  std::string method;
};

struct Inside {
  std::uint64_t pending = 0;  // calls that wait for their turn
  std::vector<RunningNow> running;
  std::vector<AwaitedNow> awaited;  // by these
};

struct StackFrame {
  std::string function;  // empty: unknown
  std::string module;    // the file it is in
  std::uint64_t offset = 0;
};

struct NamedStack {
  std::int64_t thread = 0;
  std::string name;
  std::string problem;  // why there are no frames
  std::vector<StackFrame> frames;
};

struct Stacks {
  std::string problem;  // why there are none at all
  std::vector<NamedStack> threads;
};

inline constexpr wire::MethodName kInspect{"rt.inspect", /*urgent=*/true};  // -> Inside
inline constexpr wire::MethodName kStacks{"rt.stacks", /*urgent=*/true};    // -> Stacks

// Puts them into the method table; called before a worker begins.
bool register_inspection();

// As a person reads it: "Counter::add" of "&Counter::add".
std::string method_in_words(std::string_view name);

}  // namespace rt::detail
