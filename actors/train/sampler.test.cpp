#include "rt/actors/train/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "rt/runtime/base/result.h"

namespace rt::train {
namespace {

using Rows = std::vector<std::int64_t>;

nlohmann::json recorded() {
  return nlohmann::json::parse(std::ifstream(RT_TEST_DATA "/torch/distributed_sampler.json")).at("cases");
}

TEST(DistributedSampler, GivesThePythonSamplersRowsToTheIndex) {
  for (const auto& item : recorded()) {
    for (int rank = 0; rank < item.at("ranks").get<int>(); ++rank) {
      DistributedSampler sampler({.rows = item.at("size"),
                                  .rank = rank,
                                  .size = item.at("ranks"),
                                  .seed = item.at("seed"),
                                  .shuffle = item.at("shuffle"),
                                  .drop_last = item.at("drop_last")});
      sampler.set_epoch(item.at("epoch"));
      const Rows expected = item.at("indices")[static_cast<std::size_t>(rank)];
      Rows seen = sampler.rows();
      if (item.at("size") > 1000) seen.resize(expected.size());  // of a large set only the start was recorded
      EXPECT_EQ(seen, expected) << item.dump();
    }
  }
}

TEST(DistributedSampler, GivesEachRowOnceAnEpochInBatches) {
  DistributedSampler sampler({.rows = 10, .seed = 3});
  Rows seen;
  for (auto batch = sampler.next(4); !batch.empty(); batch = sampler.next(4))
    seen.insert(seen.end(), batch.begin(), batch.end());
  EXPECT_EQ(seen, sampler.rows());
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(seen, (Rows{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(DistributedSampler, DealsOneOrderOutToTheRanks) {
  const DistributedSampler alone({.rows = 12, .seed = 3});
  for (int rank = 0; rank < 3; ++rank) {
    const DistributedSampler one_of_three({.rows = 12, .rank = rank, .size = 3, .seed = 3});
    for (std::size_t i = 0; i < 4; ++i)
      EXPECT_EQ(one_of_three.rows()[i], alone.rows()[3 * i + static_cast<std::size_t>(rank)]);
  }
}

TEST(DistributedSampler, GoesOnInMidEpoch) {
  DistributedSampler sampler({.rows = 100, .rank = 1, .size = 3, .seed = 9});
  sampler.set_epoch(4);
  sampler.next(7);
  DistributedSampler resumed({.rows = 100, .rank = 1, .size = 3, .seed = 9});
  resumed.seek(sampler.epoch(), sampler.position());
  const auto expected = sampler.next(50);
  const auto seen = resumed.next(50);
  EXPECT_EQ(Rows(seen.begin(), seen.end()), Rows(expected.begin(), expected.end()));
}

TEST(DistributedSampler, RefusesWhatCannotBe) {
  EXPECT_THROW(DistributedSampler({.rows = 0}), Exception);
  EXPECT_THROW(DistributedSampler({.rows = 5, .rank = 2, .size = 2}), Exception);
  EXPECT_THROW(DistributedSampler({.rows = 5}).seek(0, 6), Exception);
}

}  // namespace
}  // namespace rt::train
