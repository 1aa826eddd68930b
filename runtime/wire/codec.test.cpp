#include "rt/runtime/wire/codec.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace rt::codec_test {  // PFR wants aggregates that have a name outside their file

enum class Colour : std::uint8_t { Red = 1, Blue = 2 };
struct Nothing {
  bool operator==(const Nothing&) const = default;
};
struct Point {
  double x = 0, y = 0;
  bool operator==(const Point&) const = default;
};
struct Inner {
  std::string name;
  std::optional<Point> at;
  bool operator==(const Inner&) const = default;
};
struct Outer {
  std::vector<Inner> inners;
  std::map<std::string, std::vector<std::int64_t>> series;
  std::variant<std::monostate, int, std::string> either;
  std::array<Colour, 2> colours{};
  std::chrono::milliseconds pause{};
  bool flag = false;
  bool operator==(const Outer&) const = default;
};
struct Tree {
  int value = 0;
  std::vector<Tree> children;
  bool operator==(const Tree&) const = default;
};

// A class with private state and an invariant: it speaks for itself.
class Even {
 public:
  explicit Even(int half) : twice_(2 * half) {}
  void rt_encode(Encoder& to) const { encode<int>(to, twice_); }
  static Even rt_decode(Decoder& from) {
    const int twice = decode<int>(from);
    if (twice % 2) Decoder::corrupt();
    return Even(twice / 2);
  }
  bool operator==(const Even&) const = default;

 private:
  int twice_;
};

template <class T>
std::string bytes_of(const T& value) {
  Encoder to;
  encode(to, value);
  return to.take();
}

template <class T>
T value_of(std::string_view bytes) {
  Decoder from(bytes);
  T value = decode<T>(from);
  EXPECT_EQ(from.left(), 0);
  return value;
}

// Comes back the same; every shorter piece of it, and every piece with a byte changed to one of the extremes, is a
// value of the type or Corrupt, and nothing else happens.
template <class T>
void check(const T& value) {
  const std::string bytes = bytes_of(value);
  EXPECT_EQ(value_of<T>(bytes), value) << __PRETTY_FUNCTION__;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    Decoder from(std::string_view(bytes).substr(0, size));
    try {
      (void)decode<T>(from);
      ADD_FAILURE() << size << " of " << bytes.size() << " bytes were enough: " << __PRETTY_FUNCTION__;
    } catch (const Exception& e) {
      EXPECT_EQ(e.code(), Code::Corrupt);
    }
  }
  for (std::size_t at = 0; at < bytes.size(); ++at)
    for (const char byte : {'\0', '\1', '\x7f', '\xff'}) {
      std::string changed = bytes;
      changed[at] = byte;
      Decoder from(changed);
      try {
        (void)decode<T>(from);
      } catch (const Exception& e) {
        EXPECT_EQ(e.code(), Code::Corrupt);
      }
    }
}

TEST(Codec, CarriesScalars) {
  check(true);
  check('x');
  check(std::int8_t{-128});
  check(std::numeric_limits<std::uint64_t>::max());
  check(std::numeric_limits<std::int64_t>::min());
  check(-0.5f);
  check(std::numeric_limits<double>::denorm_min());
  check(Colour::Blue);
  EXPECT_TRUE(std::isnan(value_of<double>(bytes_of(std::nan("")))));
}

TEST(Codec, CarriesTextAndPaths) {
  check(std::string());
  check(std::string("with a \0 inside", 15));
  check(std::filesystem::path("/a/b c"));
  EXPECT_EQ(value_of<std::string>(bytes_of(std::string_view("a view arrives as text"))), "a view arrives as text");
}

TEST(Codec, CarriesContainers) {
  check(std::vector<int>{1, 2, 3});
  check(std::vector<bool>{true, false, true});
  check(std::vector<std::string>{"", "a"});
  check(std::vector<std::vector<double>>{{}, {1.5}, {2, 3}});
  check(std::set<std::string>{"b", "a"});
  check(std::map<int, std::string>{{1, "one"}, {2, "two"}});
  check(std::array<std::string, 2>{"x", "y"});
  check(std::pair<int, std::string>{1, "x"});
  check(std::tuple<int, std::string, bool>{1, "x", true});
  check(std::tuple<>{});
}

TEST(Codec, CarriesWhatMayBeMissingOrOneOfSeveral) {
  check(std::optional<int>());
  check(std::optional<std::string>("here"));
  check(std::variant<int, std::string>("text"));
  check(std::variant<std::monostate, Point>(Point{1, 2}));
}

TEST(Codec, CarriesDurationsInTheirOwnUnit) {
  check(std::chrono::nanoseconds(-1));
  check(std::chrono::hours::max());
  check(std::chrono::duration<double>(0.1));
}

TEST(Codec, CarriesAggregatesInAggregates) {
  check(Outer{});
  check(Outer{.inners = {{"a", Point{1, 2}}, {"b", {}}},
              .series = {{"loss", {3, 2, 1}}, {"", {}}},
              .either = "text",
              .colours = {Colour::Red, Colour::Blue},
              .pause = std::chrono::milliseconds(250),
              .flag = true});
  check(Tree{1, {{2, {}}, {3, {{4, {}}}}}});
}

TEST(Codec, CarriesSequencesOfTypesWithoutFields) {
  check(std::vector<Nothing>(5));
  check(std::vector<std::monostate>(5));
}

TEST(Codec, LetsAClassSpeakForItself) {
  check(Even(21));
  check(std::vector<Even>{Even(1), Even(2)});
}

TEST(Codec, ClaimsNoMemoryThatTheBytesDoNotFill) {
  std::string bytes(8, '\xff');
  bytes += "a few bytes";
  EXPECT_THROW(value_of<std::vector<double>>(bytes), Exception);
  EXPECT_THROW(value_of<std::string>(bytes), Exception);
  EXPECT_THROW((value_of<std::map<int, int>>(bytes)), Exception);
  EXPECT_THROW(value_of<std::vector<Nothing>>(bytes), Exception);
}

// Each level of a tree is 12 bytes: without a bound a message of some megabytes would use up the stack.
TEST(Codec, RefusesHostileDepth) {
  std::string bytes;
  for (int depth = 0; depth < 1'000'000; ++depth) bytes += bytes_of(std::pair<int, std::uint64_t>{0, 1});
  EXPECT_THROW(value_of<Tree>(bytes), Exception);
  Tree deep;
  for (int depth = 0; depth < 100; ++depth) deep = Tree{depth, {deep}};
  EXPECT_EQ(value_of<Tree>(bytes_of(deep)), deep);
}

}  // namespace rt::codec_test
