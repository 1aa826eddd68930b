#include "rt/runtime/base/id.h"

#include <gtest/gtest.h>

#include <set>

namespace rt {
namespace {

TEST(RandomId, Is32HexadecimalDigitsAndNeverTheSame) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::string id = random_id().get();
    EXPECT_EQ(id.size(), 32u);
    EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), std::string::npos) << id;
    EXPECT_TRUE(seen.insert(id).second) << id;
  }
}

}  // namespace
}  // namespace rt
