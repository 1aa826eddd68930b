#include "rt/runtime/base/log_tail.h"

#include <gtest/gtest.h>

#include "rt/runtime/base/temporary_folder.h"

namespace rt {
namespace {

struct Tail {
  const char* name;
  std::string log;
  std::size_t lines;
  std::size_t bytes;
  std::string wanted;
  friend std::ostream& operator<<(std::ostream& out, const Tail& value) { return out << value.name; }
};

class LastLines : public ::testing::TestWithParam<Tail> {};

TEST_P(LastLines, AreWholeAndBounded) {
  const TemporaryFolder folder;
  const auto log = folder.path() / "log";
  ASSERT_TRUE(write_file_atomic(log, GetParam().log));
  EXPECT_EQ(last_lines(log, GetParam().lines, GetParam().bytes), GetParam().wanted);
}

INSTANTIATE_TEST_SUITE_P(
    Logs, LastLines,
    ::testing::Values(Tail{"All", "a\nb\n", 5, 100, "a\nb\n"}, Tail{"Exactly", "a\nb\n", 2, 100, "a\nb\n"},
                      Tail{"Last", "a\nb\nc\n", 2, 100, "b\nc\n"}, Tail{"NoNewline", "a\nb\nc", 2, 100, "b\nc\n"},
                      Tail{"EmptyLines", "a\n\n\n", 2, 100, "\n\n"}, Tail{"OneNewline", "\n", 2, 100, "\n"},
                      Tail{"FewBytes", "first\nsecond\nthird\n", 9, 10, "third\n"},
                      Tail{"OneLongLine", std::string(50, 'x') + "\n", 9, 5, "xxxx\n"},
                      Tail{"Empty", "", 2, 100, "(it is empty)\n"}),
    [](const auto& info) { return info.param.name; });

TEST(LastLinesOfNothing, SaySo) { EXPECT_EQ(last_lines("/no/such/log"), "(cannot be read)\n"); }

}  // namespace
}  // namespace rt
