#include "rt/rtctl/columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rt {
namespace {

using testing::ElementsAre;

TEST(Columns, StandBelowEachOther) {
  EXPECT_THAT(in_columns({{"ID", "NAME"}, {"1234", "a"}, {"5", "bcd"}}, 80),
              ElementsAre("ID    NAME", "1234  a", "5     bcd"));
}

TEST(Columns, TheWidestGivesWayUntilTheLineFits) {
  EXPECT_THAT(in_columns({{"ID", "A LONG STORY"}, {"1", "once upon a time"}}, 14),
              ElementsAre("ID  A LONG ST…", "1   once upon…"));
  EXPECT_THAT(in_columns({{"123456789", "123456789"}}, 3), ElementsAre("12345…  12345…")) << "but none below six";
}

TEST(Columns, CharactersOfSeveralBytesTakeOneColumn) {
  EXPECT_THAT(in_columns({{"größe", "x"}, {"größenwahn", "y"}}, 11), ElementsAre("größe     x", "größenw…  y"));
}

}  // namespace
}  // namespace rt
