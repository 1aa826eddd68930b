#include "rt/tune/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <sstream>

#include "rt/tune/utf8.h"

namespace rt::tune {
namespace {

constexpr std::size_t kDeepest = 100;
constexpr std::size_t kMostEntries = 100'000;

// Thrown through yaml-cpp's parser to leave it; caught in read_yaml.
struct Refused {
  Mistake mistake;
};

[[noreturn]] void refuse(int line, int column, std::string seen, std::string wanted) {
  throw Refused{{.line = line, .column = column, .seen = std::move(seen), .wanted = std::move(wanted)}};
}

std::size_t weight(const YamlNode& node) {
  std::size_t sum = 1 + node.text.size() / 64;
  for (const YamlNode& item : node.items) sum += weight(item);
  for (const YamlEntry& entry : node.entries) sum += 1 + entry.key.size() / 64 + weight(entry.value);
  return sum;
}

std::size_t depth(const YamlNode& node) {
  std::size_t deepest = 0;
  for (const YamlNode& item : node.items) deepest = std::max(deepest, depth(item));
  for (const YamlEntry& entry : node.entries) deepest = std::max(deepest, depth(entry.value));
  return deepest + 1;
}

// Builds the tree from yaml-cpp's events. One object a document.
class Builder final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { scalar(mark, "?", anchor, ""); }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    scalar(mark, tag, anchor, text);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end())
      refuse(mark.line + 1, mark.column + 1, "an alias refers to what it is part of",
             "an alias of something before it");
    spend(weight(found->second), mark.line + 1, mark.column + 1);
    if (open_.size() + depth(found->second) > kDeepest) too_deep(mark);
    add(found->second, 0);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, YamlNode::Kind::List);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, YamlNode::Kind::Map);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override { close(); }

  std::optional<YamlNode> root;
  std::vector<Mistake> double_keys;

 private:
  struct Open {
    YamlNode node;
    YAML::anchor_t anchor;
    std::set<std::string> keys;
    std::optional<YamlEntry> entry;  // its key was read, its value wasn't
  };

  void scalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string& text) {
    const bool is_text = tag == "!" || tag == "tag:yaml.org,2002:str";
    if (!is_text && tag != "?" && !tag.empty()) wrong_tag(mark, tag);
    if (text.find('\0') != std::string::npos)
      refuse(mark.line + 1, mark.column + 1, "the character \\0 in a text", "text that a command line can hold");
    spend(1 + text.size() / 64, mark.line + 1, mark.column + 1);
    add({.line = mark.line + 1, .column = mark.column + 1, .text = text, .is_plain = !is_text}, anchor);
  }

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YamlNode::Kind kind) {
    if (tag != "?" && !tag.empty() && tag != "tag:yaml.org,2002:map" && tag != "tag:yaml.org,2002:seq")
      wrong_tag(mark, tag);
    spend(1, mark.line + 1, mark.column + 1);
    if (open_.size() >= kDeepest) too_deep(mark);
    open_.push_back({.node = {.kind = kind, .line = mark.line + 1, .column = mark.column + 1}, .anchor = anchor});
  }

  void close() {
    Open done = std::move(open_.back());
    open_.pop_back();
    add(std::move(done.node), done.anchor);
  }

  void add(YamlNode node, YAML::anchor_t anchor) {
    if (anchor != 0) {
      spend(weight(node), node.line, node.column);
      anchors_[anchor] = node;
    }
    if (open_.empty()) {
      root = std::move(node);
      return;
    }
    Open& parent = open_.back();
    if (parent.node.kind == YamlNode::Kind::List) {
      parent.node.items.push_back(std::move(node));
    } else if (!parent.entry) {
      add_key(parent, node);
    } else {
      parent.entry->value = std::move(node);
      parent.node.entries.push_back(*std::move(parent.entry));
      parent.entry.reset();
    }
  }

  void add_key(Open& map, const YamlNode& key) {
    if (key.kind != YamlNode::Kind::Scalar)
      refuse(key.line, key.column, "a key that is a list or a map", "a word; write text with such letters in quotes");
    if (key.text == "<<" && key.is_plain)
      refuse(key.line, key.column, "the merge key '<<'", "the keys written out; YAML 1.2 has no merge keys");
    constexpr std::size_t kMost = 100;  // nobody reads more
    if (!map.keys.insert(key.text).second && double_keys.size() < kMost)
      double_keys.push_back({.line = key.line,
                             .column = key.column,
                             .key = key.text,
                             .seen = "key '" + key.text + "' for the second time",
                             .wanted = "each key once"});
    map.entry = YamlEntry{key.text, key.line, key.column, {}};
  }

  void spend(std::size_t entries, int line, int column) {
    spent_ += entries;
    if (spent_ > kMostEntries)
      refuse(line, column, "more than 100,000 entries, what aliases stand for counted", "a smaller file");
  }

  [[noreturn]] static void too_deep(const YAML::Mark& mark) {
    refuse(mark.line + 1, mark.column + 1, "more than 100 levels within each other", "a flatter file");
  }

  [[noreturn]] static void wrong_tag(const YAML::Mark& mark, const std::string& tag) {
    refuse(mark.line + 1, mark.column + 1, "the tag '" + tag + "'", "no tag, or !!str for text");
  }

  std::vector<Open> open_;  // from the root to where the parser is
  std::map<YAML::anchor_t, YamlNode> anchors_;
  std::size_t spent_ = 0;
};

Mistake bad_byte(std::string_view text, std::size_t at) {
  const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1;
  const std::size_t line_start = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
  const std::size_t column = line_start == std::string_view::npos ? at + 1 : at - line_start;
  char byte[8];
  std::snprintf(byte, sizeof byte, "0x%02x", static_cast<unsigned char>(text[at]));
  return {.line = static_cast<int>(line),
          .column = static_cast<int>(column),
          .seen = std::string("the byte ") + byte,
          .wanted = "text in UTF-8 without control characters"};
}

// yaml-cpp's own words for a text that is no YAML.
Mistake no_yaml(const YAML::Exception& error) {
  const bool has_place = error.mark.line >= 0;
  return {.line = has_place ? error.mark.line + 1 : 0,
          .column = has_place ? error.mark.column + 1 : 0,
          .seen = "no valid YAML (" + error.msg + ")",
          .wanted = "YAML, indented by spaces"};
}

void build(std::string_view text, YamlDocument& document) {
  std::istringstream stream{std::string(text)};
  YAML::Parser parser(stream);
  Builder first;
  parser.HandleNextDocument(first);
  Builder second;
  if (parser.HandleNextDocument(second) && second.root)
    refuse(second.root->line, second.root->column, "a second document", "one document a file");
  document.mistakes = std::move(first.double_keys);
  const bool is_empty = !first.root || (first.root->kind == YamlNode::Kind::Scalar && first.root->text.empty());
  if (is_empty)
    document.mistakes.push_back({.seen = "the file is empty", .wanted = "a map with 'method' and 'parameters'"});
  if (document.mistakes.empty()) document.root = std::move(first.root);
}

}  // namespace

YamlDocument read_yaml(std::string_view text, const std::string& file) {
  YamlDocument document;
  if (text.size() > kLargestYaml) {
    document.mistakes.push_back(
        {.seen = "a file of " + std::to_string(text.size()) + " bytes", .wanted = "a sweep file of at most 1 MiB"});
  } else if (const auto at = find_bad_byte(text)) {
    document.mistakes.push_back(bad_byte(text, *at));
  } else {
    try {
      build(text, document);
    } catch (const Refused& refused) {
      document.mistakes.push_back(refused.mistake);
    } catch (const YAML::Exception& error) {
      document.mistakes.push_back(no_yaml(error));
    }
  }
  for (Mistake& mistake : document.mistakes) mistake.file = file;
  return document;
}

}  // namespace rt::tune
