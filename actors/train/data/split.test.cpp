#include "rt/actors/train/data/split.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

namespace rt::train {
namespace {

using Labels = std::vector<std::int64_t>;

// Recorded from scikit-learn by tests/data/sklearn/record.py.
TEST(StratifiedSplit, IsScikitLearnsToTheIndex) {
  const auto recorded = nlohmann::json::parse(std::ifstream(RT_TEST_DATA "/sklearn/stratified_split.json"));
  ASSERT_EQ(recorded.at("cases").size(), 26);
  for (const auto& wanted : recorded.at("cases")) {
    SCOPED_TRACE(wanted.at("name").get<std::string>() + ", seed " + wanted.at("seed").dump());
    const auto labels = recorded.at("labels").at(wanted.at("name").get<std::string>()).get<Labels>();
    const auto split = stratified_split(labels, wanted.at("test_size"), wanted.at("seed").get<std::uint32_t>());
    ASSERT_TRUE(split) << split.error().message;
    EXPECT_EQ(split->train, wanted.at("train").get<Labels>());
    EXPECT_EQ(split->test, wanted.at("test").get<Labels>());
  }
}

TEST(StratifiedSplit, TakesTheRowsAlong) {
  const Dataset data{
      .rows = 4, .columns = 1, .features = {0.0F, 0.1F, 0.2F, 0.3F}, .labels = {0, 1, 0, 1}, .classes = 2};
  const auto parts = stratified_split(data, 0.5, 0);
  ASSERT_TRUE(parts);
  for (const Dataset& part : {parts->train, parts->test}) {
    EXPECT_EQ(part.rows, 2);
    EXPECT_EQ(part.labels.size(), 2);
    for (std::size_t row = 0; row < 2; ++row)
      EXPECT_EQ(part.labels[row], part.features[row] == 0.1F || part.features[row] == 0.3F ? 1 : 0);
  }
}

struct Refusal {
  const char* name;
  Labels labels;
  double test_size;
  const char* says;
  friend std::ostream& operator<<(std::ostream& out, const Refusal& value) { return out << value.name; }
};

class StratifiedSplitRefuses : public ::testing::TestWithParam<Refusal> {};

TEST_P(StratifiedSplitRefuses, WhatScikitLearnRefuses) {
  const auto split = stratified_split(GetParam().labels, GetParam().test_size, 0);
  ASSERT_FALSE(split);
  EXPECT_EQ(split.error().code, Code::Invalid);
  EXPECT_NE(split.error().message.find(GetParam().says), std::string::npos) << split.error().message;
}

INSTANTIATE_TEST_SUITE_P(Cases, StratifiedSplitRefuses,
                         ::testing::Values(Refusal{"LoneRow", {0, 0, 0, 1}, 0.5, "class 1 has 1 row"},
                                           Refusal{"SmallTestPart", {0, 0, 1, 1, 2, 2}, 0.2, "into 4 and 2 rows"},
                                           Refusal{"SmallTrainPart", {0, 0, 1, 1, 2, 2}, 0.8, "into 1 and 5 rows"},
                                           Refusal{"NoTestPart", {0, 0, 1, 1}, 0.0, "test_size is 0.0"},
                                           Refusal{"NoTrainPart", {0, 0, 1, 1}, 1.0, "test_size is 1.0"},
                                           Refusal{"NoRows", {}, 0.2, "no rows to split"}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace rt::train
