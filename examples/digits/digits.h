#pragma once
// Digits: a trainable that learns handwritten digits, the example of this folder and what sweep.yaml searches over.
//
// Parameters of the sweep: hidden, lr, momentum, weight_decay, batch (a rank); optional: data ("digits" or "mnist"),
// folder (where the data lies; digits also looks where scripts/setup puts it), split_seed. With data: mnist the model
// is the lesson's: 784-512-10, ReLU, Adam at 1e-3, batch 64 a rank. One step() is one epoch. Metrics: loss and accuracy
// on the rows held out, train_loss on the others.

#include <rt/actors/train/data/dataset.h>
#include <rt/train.h>
#include <torch/nn/modules/container/sequential.h>

#include <memory>
#include <optional>

class Digits {
 public:
  void setup(rt::RankContext& context);
  rt::Metrics step();
  void save(const std::filesystem::path& folder);
  void load(const std::filesystem::path& folder);

 private:
  struct Rows {
    torch::Tensor images, labels;
  };
  static Rows rows_of(const rt::train::Dataset& data, torch::Device device);

  double train_one_epoch();
  rt::Metrics validate();
  rt::train::Training training();

  rt::train::RankPlace place_;
  std::unique_ptr<rt::train::CollectiveGroup> group_;
  Rows train_, test_;
  std::int64_t batch_ = 0;
  std::optional<rt::train::DistributedSampler> sampler_;
  std::optional<rt::train::DataParallel<torch::nn::Sequential>> model_;
  std::unique_ptr<torch::optim::Optimizer> optimizer_;
  std::uint64_t epochs_ = 0;
};
