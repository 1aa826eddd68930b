#include "rt/actors/train/checkpoint.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "rt/actors/collective/gang.testing.h"
#include "rt/actors/train/data_parallel.h"
#include "rt/actors/train/random_state.h"
#include "rt/runtime/base/temporary_folder.h"

namespace rt::train {
namespace {

namespace fs = std::filesystem;

torch::nn::Sequential make_model(std::uint64_t seed, int hidden) {
  seed_weights(seed);
  return torch::nn::Sequential(torch::nn::Linear(8, hidden), torch::nn::Dropout(0.5), torch::nn::Linear(hidden, 3));
}

// A trial in small: dropout, Adam, and batches that don't divide the epoch.
struct Trial {
  Trial(const RankContext& context, CollectiveGroup& group, std::uint64_t seed, int hidden = 16)
      : place{.rank = context.rank, .size = context.size},
        model(make_model(seed, hidden), group),
        optimizer(model->parameters(), torch::optim::AdamOptions(1e-2)),
        sampler({.rows = 50, .rank = context.rank, .size = context.size, .seed = 1}) {
    seed_rank(seed, context.rank);
  }

  void train(int steps) {
    for (int i = 0; i < steps; ++i, ++step) {
      auto batch = sampler.next(7);
      if (batch.empty()) {
        sampler.set_epoch(sampler.epoch() + 1);
        batch = sampler.next(7);
      }
      const auto rows = torch::tensor(std::vector<std::int64_t>(batch.begin(), batch.end()));
      model.zero_grad();
      torch::cross_entropy_loss(model.forward(images.index_select(0, rows)), labels.index_select(0, rows)).backward();
      optimizer.step();
    }
  }

  bool equals(Trial& other) {
    const auto ours = model->parameters(), theirs = other.model->parameters();
    return step == other.step && std::equal(ours.begin(), ours.end(), theirs.begin(), theirs.end(),
                                            [](const auto& a, const auto& b) { return a.equal(b); });
  }

  Training training() { return {*model.module(), optimizer, sampler, step}; }

  RankPlace place;
  DataParallel<torch::nn::Sequential> model;
  torch::optim::Adam optimizer;
  DistributedSampler sampler;
  std::uint64_t step = 0;
  torch::Tensor images = torch::arange(400, torch::kFloat).remainder(17).view({50, 8});
  torch::Tensor labels = torch::arange(50).remainder(3);
};

// 0 where a trial that went on from a checkpoint in mid-epoch equals, to the bit, the one that never stopped.
int resumed_equals_undisturbed(const RankContext& context, const fs::path& folder) {
  auto group = form_group(context).get();
  Trial undisturbed(context, *group, 1);
  undisturbed.train(11);
  save_checkpoint(folder, undisturbed.place, undisturbed.training()).get();
  group->barrier().wait(std::chrono::seconds(20)).get();
  undisturbed.train(13);

  Trial resumed(context, *group, 2);
  load_checkpoint(folder, resumed.place, resumed.training()).get();
  resumed.train(13);
  return resumed.equals(undisturbed) ? 0 : 1;
}

class CheckpointTest : public ::testing::Test {
 protected:
  // A checkpoint of a trial of one rank.
  void save(Trial& trial) { ASSERT_TRUE(save_checkpoint(folder.path(), trial.place, trial.training())); }
  Error load_error(Trial& trial) {
    const auto loaded = load_checkpoint(folder.path(), trial.place, trial.training());
    return loaded ? Error{} : loaded.error();
  }

  TemporaryFolder folder;
  RankContext context;
  std::unique_ptr<CollectiveGroup> group = form_group(context).get();
};

TEST_F(CheckpointTest, LetsOneRankGoOnToTheBit) { EXPECT_EQ(resumed_equals_undisturbed(context, folder.path()), 0); }

TEST_F(CheckpointTest, LetsTwoRanksGoOnToTheBit) {
  fs::create_directory(folder.path() / "checkpoint");
  const auto statuses = testing::run_processes(2, folder.path() / "store", [&](RankContext& rank) {
    return resumed_equals_undisturbed(rank, folder.path() / "checkpoint");
  });
  EXPECT_EQ(statuses, (std::vector<int>{0, 0}));
}

TEST_F(CheckpointTest, SaysWhichFileIsNotThere) {
  Trial trial(context, *group, 1);
  EXPECT_EQ(load_error(trial).code, Code::NotFound);
  EXPECT_NE(load_error(trial).message.find("rank-0.json"), std::string::npos);
}

TEST_F(CheckpointTest, SaysThatAFileIsShort) {
  Trial trial(context, *group, 1);
  save(trial);
  for (const char* name : {"shared.pt", "rank-0.pt"}) {
    SCOPED_TRACE(name);
    const auto path = folder.path() / name;
    const auto whole = fs::file_size(path);
    fs::resize_file(path, whole - 1);
    EXPECT_EQ(load_error(trial).code, Code::Corrupt);
    EXPECT_NE(load_error(trial).message.find(path.string()), std::string::npos);
    save(trial);
  }
}

TEST_F(CheckpointTest, SeesOneFlippedBit) {
  Trial trial(context, *group, 1);
  save(trial);
  const auto path = folder.path() / "shared.pt";
  auto bytes = read_file(path).get();
  bytes[bytes.size() / 2] ^= 1;
  ASSERT_TRUE(write_file_atomic(path, bytes));
  EXPECT_EQ(load_error(trial).code, Code::Corrupt);
}

TEST_F(CheckpointTest, SaysThatAManifestIsTorn) {
  Trial trial(context, *group, 1);
  save(trial);
  fs::resize_file(folder.path() / "rank-0.json", 20);
  EXPECT_EQ(load_error(trial).code, Code::Corrupt);
}

TEST_F(CheckpointTest, RefusesAnotherNumberOfRanksAndAnotherModel) {
  Trial trial(context, *group, 1);
  save(trial);
  trial.place.size = 2;
  EXPECT_EQ(load_error(trial).code, Code::Invalid);
  Trial wider(context, *group, 1, /*hidden=*/17);
  EXPECT_EQ(load_error(wider).code, Code::Invalid);
}

}  // namespace
}  // namespace rt::train
