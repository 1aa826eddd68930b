#include "rt/tune/yaml.h"

#include <gtest/gtest.h>

namespace rt::tune {
namespace {

// The single mistake of a text, as a person reads it.
std::string mistake_of(const std::string& text) {
  const YamlDocument document = read_yaml(text, "f");
  EXPECT_FALSE(document.root.has_value());
  return document.mistakes.size() == 1 ? to_string(document.mistakes[0])
                                       : std::to_string(document.mistakes.size()) + " mistakes";
}

YamlNode scalar(const std::string& text) { return {.text = text}; }

TEST(Yaml, KeepsThePlaceOfKeysAndValues) {
  const auto document = read_yaml("a: 1\nb:\n  c: [x, 'y']\n", "f");
  ASSERT_TRUE(document.root);
  const YamlEntry& b = document.root->entries.at(1);
  EXPECT_EQ(b.line, 2);
  const YamlEntry& c = b.value.entries.at(0);
  EXPECT_EQ(c.line, 3);
  EXPECT_EQ(c.column, 3);
  EXPECT_EQ(c.value.items.at(1).column, 10);
  EXPECT_TRUE(c.value.items.at(0).is_plain);
  EXPECT_FALSE(c.value.items.at(1).is_plain);
}

TEST(Yaml, AnAliasStandsForWhatItNames) {
  const auto document = read_yaml("a: &x {k: 1}\nb: *x\n", "f");
  ASSERT_TRUE(document.root);
  EXPECT_EQ(document.root->entries.at(1).value.entries.at(0).key, "k");
}

TEST(Yaml, NamesWhatIsNoYaml) {
  EXPECT_EQ(mistake_of(""), "f: the file is empty, wanted a map with 'method' and 'parameters'");
  EXPECT_EQ(mistake_of("# nothing\n"), mistake_of(""));
  EXPECT_EQ(mistake_of("a: 1\na: 2\n"), "f:2: key 'a' for the second time, wanted each key once");
  EXPECT_EQ(mistake_of("a: 1\n---\nb: 1\n"), "f:3: a second document, wanted one document a file");
  EXPECT_EQ(mistake_of("a: \xff\n"), "f:1: the byte 0xff, wanted text in UTF-8 without control characters");
  EXPECT_EQ(mistake_of("a: 1\nb: *x\n").substr(0, 17), "f:2: no valid YAM");
  EXPECT_EQ(mistake_of("a: [1\n").substr(0, 2), "f:");
  EXPECT_EQ(mistake_of("a:\n\t- 1\n").substr(0, 2), "f:");
  EXPECT_EQ(mistake_of("a: \"x\\0y\"\n"), "f:1: the character \\0 in a text, wanted text that a command line can hold");
  EXPECT_EQ(mistake_of("a: !mine 1\n"), "f:1: the tag '!mine', wanted no tag, or !!str for text");
  EXPECT_EQ(mistake_of("[a]: 1\n").substr(0, 38), "f:1: a key that is a list or a map, wa");
  EXPECT_EQ(mistake_of("x: {<<: {a: 1}}\n").substr(0, 25), "f:1: the merge key '<<', ");
}

TEST(Yaml, RefusesAnAliasWithinWhatItNames) {
  EXPECT_NE(mistake_of("a: &x [*x]\n").find("an alias refers to what it is part of"), std::string::npos);
}

TEST(Yaml, BoundsSizeDepthAndAliases) {
  EXPECT_EQ(mistake_of(std::string(kLargestYaml + 1, ' ')),
            "f: a file of 1048577 bytes, wanted a sweep file of at most 1 MiB");
  EXPECT_NE(mistake_of("a: " + std::string(200, '[')).find("100 levels"), std::string::npos);
  EXPECT_NE(mistake_of("a: " + std::string(kLargestYaml - 100, '[')), "");
  std::string laughs = "a0: &a0 [ha, ha]\n";
  for (int i = 1; i < 40; ++i) {
    const std::string before = std::to_string(i - 1), now = std::to_string(i);
    laughs += "a" + now + ": &a" + now + " [*a" + before + ", *a" + before + "]\n";
  }
  EXPECT_NE(mistake_of(laughs).find("100,000 entries"), std::string::npos);
  std::string long_text = "a: &x '" + std::string(500'000, 'x') + "'\nb: [*x";
  for (int i = 0; i < 1000; ++i) long_text += ", *x";
  EXPECT_NE(mistake_of(long_text + "]\n").find("100,000 entries"), std::string::npos);
}

// YAML 1.2.2, chapter 10.3: the core schema.
TEST(YamlScalar, FollowsTheCoreSchema) {
  const std::pair<const char*, Value> cases[] = {
      {"", nullptr},
      {"~", nullptr},
      {"Null", nullptr},
      {"true", true},
      {"False", false},
      {"7", 7},
      {"-3", -3},
      {"+5", 5},
      {"010", 10},
      {"0o17", 15},
      {"0x1F", 31},
      {"1e-4", 1e-4},
      {"1.", 1.0},
      {".5", 0.5},
      {"-1.5e3", -1500},
      {"+2.5", 2.5},
      {"1.0", 1.0},
      {"yes", "yes"},
      {"1_000", "1_000"},
      {"12:30", "12:30"},
      {"1e", "1e"},
      {"+-5", "+-5"},
      {"--5", "--5"},
      {"-", "-"},
      {".", "."},
      {"0x", "0x"},
      {"0xg", "0xg"},
      {"0x-1", "0x-1"},
      {"infinity", "infinity"},
      {"nan", "nan"},
      {"2026-01-01", "2026-01-01"},
      {"9223372036854775807", 9223372036854775807},
      {"-9223372036854775808", std::numeric_limits<std::int64_t>::min()},
  };
  for (const auto& [text, value] : cases) EXPECT_EQ(scalar_value(scalar(text)), value) << text;
  EXPECT_TRUE(scalar_value(scalar("1.0"))->is_number_float());
}

TEST(YamlScalar, QuotedIsAlwaysText) {
  EXPECT_EQ(scalar_value({.text = "7", .is_plain = false}), Value("7"));
  EXPECT_EQ(scalar_value({.text = "", .is_plain = false}), Value(""));
}

TEST(YamlScalar, HasNoValueWhereJsonHasNone) {
  for (const char* text : {".inf", "-.INF", "+.Inf", ".nan", ".NaN", "9223372036854775808", "1e400", "-1e400"})
    EXPECT_EQ(scalar_value(scalar(text)), std::nullopt) << text;
}

}  // namespace
}  // namespace rt::tune
