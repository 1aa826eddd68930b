#pragma once
// The class of an actor from the name of its constructor, as the method table spells that.

#include <string>

namespace rt::wire {

// "Class" of "std::tuple<Class, Argument...>".
inline std::string class_of(const std::string& constructor) {
  const std::string before = "std::tuple<";
  if (!constructor.starts_with(before)) return constructor;
  int depth = 0;
  for (std::size_t i = before.size(); i < constructor.size(); ++i) {
    if (constructor[i] == '<') ++depth;
    const bool ends = depth == 0 && (constructor[i] == ',' || constructor[i] == '>');
    if (ends) return constructor.substr(before.size(), i - before.size());
    if (constructor[i] == '>') --depth;
  }
  return constructor;
}

}  // namespace rt::wire
