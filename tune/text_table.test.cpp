#include "rt/tune/text_table.h"

#include <gtest/gtest.h>

namespace rt::tune {
namespace {

using Lines = std::vector<std::string>;

const std::vector<Column> kColumns{{.title = "trial"},
                                   {.title = "parameters", .priority = 1, .min_width = 8},
                                   {.title = "loss", .is_right = true, .priority = 2}};
const std::vector<std::vector<std::string>> kRows{{"0001", "lr=0.1 batch=32", "0.5"}, {"0002", "lr=1", "12.25"}};

TEST(TextTable, LinesUpItsColumns) {
  EXPECT_EQ(render(kColumns, kRows, 80), (Lines{"trial  parameters        loss",  //
                                                "0001   lr=0.1 batch=32    0.5", "0002   lr=1             12.25"}));
}

TEST(TextTable, NarrowsBeforeItDrops) {
  EXPECT_EQ(render(kColumns, kRows, 24), (Lines{"trial  parameters   loss",  //
                                                "0001   lr=0.1 ba…    0.5", "0002   lr=1        12.25"}));
  EXPECT_EQ(render(kColumns, kRows, 20), (Lines{"trial  parameters", "0001   lr=0.1 batch…", "0002   lr=1"}));
  EXPECT_EQ(render(kColumns, kRows, 10), (Lines{"trial", "0001", "0002"}));
}

TEST(TextTable, NeverWritesALineWiderThanAsked) {
  const std::vector<std::vector<std::string>> rows{{"0001 *", "名前=長い値 ünïcödé=é", "-1.234e-05"}};
  for (std::size_t width = 0; width <= 60; ++width) {
    for (const std::string& line : render(kColumns, rows, width)) EXPECT_LE(display_width(line), width) << line;
  }
}

TEST(TextTable, CountsCellsAndNotBytes) {
  EXPECT_EQ(display_width("é"), 1u);
  EXPECT_EQ(display_width("e\u0301"), 1u);
  EXPECT_EQ(display_width("名前"), 4u);
  EXPECT_EQ(display_width("🙂"), 2u);
  EXPECT_EQ(shorten("名前x", 4), "名…");
  EXPECT_EQ(shorten("name", 4), "name");
  EXPECT_EQ(shorten("name", 1), "…");
  EXPECT_EQ(shorten("name", 0), "");
}

TEST(TextTable, ShowsNothingThatMovesTheCursorOrIsNoUtf8) {
  EXPECT_EQ(printable("a\x1b[2Jb\r\n\tc"), "a?[2Jb?? c");
  EXPECT_EQ(printable("\xc2\x9b"
                      "5m"),
            "?5m");
  EXPECT_EQ(printable("\xff\xc3"), "??");
  EXPECT_EQ(printable("\xe2\x82"), "??");
  EXPECT_EQ(printable("\xc0\xaf\xed\xa0\x80"), "?????");
  EXPECT_EQ(printable("größe"), "größe");
}

}  // namespace
}  // namespace rt::tune
