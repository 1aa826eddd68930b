#pragma once
// Reading a map of a sweep file key by key, with every mistake written down instead of thrown.
//
//   Fields fields(node, "metric", findings);
//   auto name = fields.text("name");
//   auto goal = fields.choice("goal", {"minimize", "maximize"});
//   fields.finish();                         // keys that nobody asked for are mistakes
//
// A getter gives nothing where the key isn't there or its value is a mistake; the mistake is then written down.
// Findings outlives the Fields; the node does too.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rt/tune/yaml.h"

namespace rt::tune {

// All that was found out about one file.
class Findings {
 public:
  static constexpr std::size_t kMost = 100;  // mistakes, and notices: nobody reads more, and they take time to write

  explicit Findings(std::string file) : file_(std::move(file)) {}

  void wrong(const YamlNode& at, std::string key, std::string seen, std::string wanted, std::string nearest = "");
  void unsupported(const YamlNode& at, std::string key, std::string seen, std::string works);
  void notice(const YamlNode& at, const std::string& text);
  void add(Mistake mistake);

  const std::vector<Mistake>& mistakes() const { return mistakes_; }
  bool is_full() const { return mistakes_.size() >= kMost; }  // what is found from now on is left out
  std::vector<Mistake> mistakes_in_file_order() const;
  const std::vector<std::string>& notices() const { return notices_; }

 private:
  std::string file_;
  std::vector<Mistake> mistakes_;
  std::vector<std::string> notices_;
};

// An entry's key, as a place for a mistake.
YamlNode key_of(const YamlEntry& entry);

// At most 40 bytes of a text, then dots.
std::string shortened(const std::string& text);

// What a person sees of a node: 'text', 3, a list, a map; shortened.
std::string seen_as(const YamlNode& node);

// The node as a parameter's value. Nothing, and a mistake under `key`, where JSON can't carry it.
std::optional<Value> to_value(const YamlNode& node, const std::string& key, Findings& findings);

// Which numbers are right.
struct Range {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool is_above_min = false;  // min itself is too little
};

class Fields {
 public:
  // `path`: the map's key in the file, empty for the file's own map. A node that is no map is a mistake, and then no
  // key is there.
  Fields(const YamlNode& node, std::string path, Findings& findings);

  bool has(std::string_view key);

  // The entry's value, whatever it is; null where the key isn't there.
  const YamlNode* take(std::string_view key);

  std::optional<std::string> text(std::string_view key);
  std::optional<std::int64_t> integer(std::string_view key, std::int64_t min,
                                      std::int64_t max = std::numeric_limits<std::int64_t>::max());
  std::optional<double> number(std::string_view key, Range range = {});
  std::optional<bool> boolean(std::string_view key);
  std::optional<std::string> choice(std::string_view key, const std::vector<std::string>& choices);

  // The key is required: a mistake where it isn't there. `wanted` says what it should hold.
  void require(std::string_view key, const std::string& wanted);

  void finish();

  const YamlNode& node() const { return node_; }
  const std::string& path() const { return path_; }
  std::string path_of(std::string_view key) const;

 private:
  void wrong_value(const YamlNode& value, std::string_view key, const std::string& wanted, std::string nearest = "");

  const YamlNode& node_;
  std::string path_;
  Findings& findings_;
  std::vector<std::string> known_;  // every key that was asked for
};

}  // namespace rt::tune
