#include "rt/tune/utf8.h"

#include <gtest/gtest.h>

namespace rt::tune {
namespace {

using namespace std::string_view_literals;

TEST(Utf8, AcceptsEveryLengthOfCharacterAndTheThreeControlsOfText) {
  EXPECT_EQ(find_bad_byte(""), std::nullopt);
  EXPECT_EQ(find_bad_byte("a\tb\r\n \x7e"), std::nullopt);
  EXPECT_EQ(find_bad_byte("\u00e9\u20ac\U0001F600\ud7ff\ue000\U0010FFFF"), std::nullopt);
}

// The malformed sequences of Unicode 15, tables 3-7 and 3-8.
TEST(Utf8, NamesTheFirstByteThatIsNone) {
  const std::pair<std::string_view, std::size_t> cases[] = {
      {"\x80"sv, 0},
      {"ab\xff"sv, 2},
      {"a\xc0\xaf"sv, 1},
      {"\xe0\x9f\x80"sv, 0},
      {"\xed\xa0\x80"sv, 0},
      {"\xf4\x90\x80\x80"sv, 0},
      {"\xf5\x80\x80\x80"sv, 0},
      {"ok\xe2\x82"sv, 2},
      {"\xe2\x28\xa1"sv, 0},
      {"a\0b"sv, 1},
      {"\x1b[31m"sv, 0},
      {"x\x7f"sv, 1},
  };
  for (const auto& [text, at] : cases) EXPECT_EQ(find_bad_byte(text), at) << testing::PrintToString(text);
}

}  // namespace
}  // namespace rt::tune
