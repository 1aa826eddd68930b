#include "rt/rtctl/torch/training_step.h"

#include <torch/torch.h>

#include <torch/csrc/distributed/c10d/reducer.hpp>

#include "rt/actors/collective/c10d_group.h"
#include "rt/actors/train/data_parallel.h"

namespace rt::train {
namespace {

constexpr std::int64_t kBatch = 64;

struct Workload {
  torch::nn::Sequential model{torch::nn::Linear(784, 512), torch::nn::ReLU(), torch::nn::Linear(512, 10)};
  torch::optim::SGD optimizer{model->parameters(), torch::optim::SGDOptions(1e-5).momentum(0.9)};
  torch::Tensor images = torch::rand({kBatch, 784});
  torch::Tensor labels = torch::randint(10, {kBatch}, torch::kLong);
};

class SilentStep final : public TrainingStep {
 public:
  void run() override {
    work_.optimizer.zero_grad();
    torch::cross_entropy_loss(work_.model->forward(work_.images), work_.labels).backward();
    work_.optimizer.step();
  }

 private:
  Workload work_;
};

class DataParallelStep final : public TrainingStep {
 public:
  explicit DataParallelStep(CollectiveGroup& group)
      : parallel_(work_.model, group, DataParallelOptions{.gradient_as_bucket_view = true}) {}

  void run() override {
    parallel_.zero_grad();
    torch::cross_entropy_loss(parallel_.forward(work_.images), work_.labels).backward();
    work_.optimizer.step();
  }

 private:
  Workload work_;
  DataParallel<torch::nn::Sequential> parallel_;
};

class BareReducerStep final : public TrainingStep {
 public:
  explicit BareReducerStep(CollectiveGroup& group)
      : parameters_(work_.model->parameters()),
        reducer_(std::make_unique<c10d::Reducer>(
            parameters_, std::vector<std::vector<std::size_t>>{{3, 2, 1, 0}},
            dynamic_cast<C10dGroup&>(group).process_group(), std::vector<bool>(parameters_.size(), false),
            c10d::kDefaultBucketBytesCap, false, /*gradient_as_bucket_view=*/true,
            std::unordered_map<std::size_t, std::string>{}, c10d::kDefaultFirstBucketBytes, false, false,
            std::vector<std::int64_t>{})) {}
  ~BareReducerStep() override { reducer_->remove_autograd_hooks(); }

  void run() override {
    for (auto& parameter : parameters_) parameter.mutable_grad().reset();
    reducer_->prepare_for_forward();
    reducer_->rebuild_buckets();
    const auto output = work_.model->forward(work_.images);
    reducer_->prepare_for_backward({});
    torch::cross_entropy_loss(output, work_.labels).backward();
    work_.optimizer.step();
  }

 private:
  Workload work_;
  std::vector<torch::Tensor> parameters_;
  std::unique_ptr<c10d::Reducer> reducer_;  // its destructor may throw, which a member's may not
};

}  // namespace

std::unique_ptr<TrainingStep> data_parallel_step(CollectiveGroup& group) {
  return std::make_unique<DataParallelStep>(group);
}
std::unique_ptr<TrainingStep> bare_reducer_step(CollectiveGroup& group) {
  return std::make_unique<BareReducerStep>(group);
}
std::unique_ptr<TrainingStep> silent_step() { return std::make_unique<SilentStep>(); }

}  // namespace rt::train
