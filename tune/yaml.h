#pragma once
// A YAML text as a small tree with the place of everything in it, so that each later mistake can name its line.
// yaml-cpp reads; this adds what it leaves to its caller: bounds, double keys, UTF-8, one document, tags, merge keys.
//
// Values. Invariants: at most 100 levels and 100,000 entries (64 bytes of text count as one more), aliases followed;
// the keys of a map differ.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rt/tune/mistake.h"
#include "rt/tune/value.h"

namespace rt::tune {

struct YamlEntry;

struct YamlNode {
  enum class Kind { Scalar, List, Map };
  Kind kind = Kind::Scalar;
  int line = 0;  // from 1
  int column = 0;
  std::string text;                // of a scalar
  bool is_plain = true;            // a scalar without quotes: its text decides what it is
  std::vector<YamlNode> items;     // of a list
  std::vector<YamlEntry> entries;  // of a map, in the file's order
};

struct YamlEntry {
  std::string key;
  int line = 0;
  int column = 0;
  YamlNode value;
};

struct YamlDocument {
  std::optional<YamlNode> root;  // nothing where `mistakes` says why
  std::vector<Mistake> mistakes;
};

inline constexpr std::size_t kLargestYaml = 1 << 20;  // bytes

YamlDocument read_yaml(std::string_view text, const std::string& file);

// What a node is by YAML 1.2's core schema: null, true, an integer (also 0x1F, 0o17), a number (also 1e-4), else text.
// Nothing for a number that JSON can't carry: .inf, .nan, an integer beyond 64 bits, a number beyond a double.
std::optional<Value> scalar_value(const YamlNode& scalar);

}  // namespace rt::tune
