#pragma once
// Mistake: one thing in a sweep file that a person has to mend. All of a file's are found before any is shown, so that
// nobody has to mend a file once for each.

#include <string>
#include <string_view>
#include <vector>

namespace rt::tune {

struct Mistake {
  enum class Kind {
    Wrong,            // it means nothing, to W&B neither
    NotSupportedYet,  // W&B knows it, rt doesn't yet; `wanted` names what works instead
  };
  Kind kind = Kind::Wrong;
  std::string file;
  int line = 0;         // from 1; 0: the file as a whole
  int column = 0;       // from 1
  std::string key;      // where in the file, e.g. "parameters.lr.min"; empty: the file as a whole
  std::string seen;     // "unknown key 'paramters'"
  std::string wanted;   // "min must be less than max"; may be empty where `nearest` says it all
  std::string nearest;  // the right spelling that is nearest to what was seen; empty: none is near
  bool operator==(const Mistake&) const = default;
};

// "sweep.yaml:7: unknown key 'paramters' - did you mean 'parameters'?"
std::string to_string(const Mistake& mistake);

// One a line, in the file's order.
std::string to_string(const std::vector<Mistake>& mistakes);

// The spelling among `known` that a person most likely meant by `seen`: fewest letters changed, swapped, added or left
// out, at most a third of the word; or one that begins with `seen`. Empty: none.
std::string nearest(std::string_view seen, const std::vector<std::string>& known);

}  // namespace rt::tune
