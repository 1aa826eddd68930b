#include "rt/tune/searcher.h"

#include <gtest/gtest.h>

#include <fstream>

#include "rt/tune/sweep.h"
#include "rt/tune/sweep.testing.h"

namespace rt::tune {
namespace {

constexpr auto kMost = std::numeric_limits<std::int64_t>::max();

// Equal, whatever the order of members.
bool same(const Value& a, const Value& b) { return nlohmann::json::parse(a.dump()) == nlohmann::json::parse(b.dump()); }

TEST(Grid, GivesWandbsPointsInWandbsOrderAndThenNothing) {
  const Value oracle = Value::parse(std::ifstream(RT_TEST_DATA "/sweeps/grids.json"));
  for (const Value& one : oracle["cases"]) {
    const auto searcher = make_searcher(sweep_of("method: grid\nparameters: " + one["parameters"].dump() + "\n"));
    const auto count = static_cast<std::int64_t>(one["points"].size());
    EXPECT_EQ(searcher->size(), count);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto point = searcher->suggest(i);
      ASSERT_TRUE(point && same(*point, one["points"][static_cast<std::size_t>(i)]))
          << one["parameters"] << " at " << i;
    }
    EXPECT_EQ(searcher->suggest(count), std::nullopt);
  }
}

TEST(Grid, KeepsTheFilesOrderWithinAPoint) {
  const auto searcher = make_searcher(sweep_of("method: grid\nparameters: {z: {value: 1}, a: {values: [2, 3]}}\n"));
  EXPECT_EQ(searcher->suggest(1)->dump(), R"({"z":1,"a":3})");
}

TEST(Grid, EndsAtTheRunCap) {
  const auto searcher = make_searcher(sweep_of("method: grid\nrun_cap: 2\nparameters: {a: {min: 1, max: 9}}\n"));
  EXPECT_EQ(searcher->size(), 2);
  EXPECT_TRUE(searcher->suggest(1));
  EXPECT_EQ(searcher->suggest(2), std::nullopt);
}

TEST(Grid, OfMorePointsThanCanBeCountedIsNeverLaidOut) {
  const auto searcher = make_searcher(sweep_of(
      "method: grid\nparameters: {a: {min: 0, max: 9000000000000000000}, b: {min: -9000000000000000000, max: 0}}\n"));
  EXPECT_EQ(searcher->size(), kMost);
  EXPECT_EQ((*searcher->suggest(5))["b"], -8999999999999999995);
}

TEST(GridPoints, AreNoneForAContinuousRange) {
  EXPECT_EQ(grid_points({Uniform{0, 1}, {}}), std::nullopt);
  EXPECT_EQ(grid_points({Uniform{0, 1}, Quantum{0.25, false}}), 4);
  EXPECT_EQ(grid_points({Uniform{0, 5e-324}, Quantum{1e308, false}}), 1);
  EXPECT_EQ(grid_points({Normal{0, 1}, Quantum{1, true}}), std::nullopt);
  EXPECT_EQ(grid_points({Categorical{{1, 2}, {0.5, 0.5}}, {}}), std::nullopt);
  EXPECT_EQ(grid_points({IntUniform{std::numeric_limits<std::int64_t>::min(), kMost}, {}}), kMost);
}

const char* const kRandom =
    "method: random\nrun_cap: 100\nseed: 3\nparameters: {a: {min: 0.0, max: 1.0}, b: {min: 1, max: 6}}\n";

TEST(Random, ProposesTheSameForATrialInAnyOrderOfAsking) {
  const auto forwards = make_searcher(sweep_of(kRandom));
  const auto backwards = make_searcher(sweep_of(kRandom));
  std::vector<Value> points;
  for (int i = 0; i < 100; ++i) points.push_back(*forwards->suggest(i));
  for (int i = 99; i >= 0; --i) EXPECT_EQ(*backwards->suggest(i), points[static_cast<std::size_t>(i)]);
}

TEST(Random, DiffersByTrialAndBySeed) {
  const Sweep sweep = sweep_of(kRandom);
  const auto searcher = make_searcher(sweep);
  EXPECT_NE(*searcher->suggest(0), *searcher->suggest(1));
  EXPECT_NE(*searcher->suggest(0), *make_random(sweep.space, 4, 100)->suggest(0));
}

TEST(Random, EndsAtTheRunCapAndElseNever) {
  const Sweep sweep = sweep_of(kRandom);
  const auto capped = make_searcher(sweep);
  EXPECT_EQ(capped->size(), 100);
  EXPECT_TRUE(capped->suggest(99));
  EXPECT_EQ(capped->suggest(100), std::nullopt);
  EXPECT_EQ(capped->suggest(-1), std::nullopt);
  const auto endless = make_random(sweep.space, 3, std::nullopt);
  EXPECT_EQ(endless->size(), std::nullopt);
  EXPECT_TRUE(endless->suggest(kMost));
}

}  // namespace
}  // namespace rt::tune
