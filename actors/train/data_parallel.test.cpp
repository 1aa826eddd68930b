#include "rt/actors/train/data_parallel.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "rt/actors/collective/gang.testing.h"
#include "rt/runtime/base/temporary_folder.h"

namespace rt::train {
namespace {

using testing::run_threads;
using Tensors = std::vector<torch::Tensor>;

constexpr int kBatch = 64;
constexpr int kSteps = 50;

torch::nn::Sequential make_model() {
  return torch::nn::Sequential(torch::nn::Linear(20, 32), torch::nn::ReLU(), torch::nn::Linear(32, 10));
}

// The same rows and initial weights for whoever asks: made once, before any rank runs.
struct Problem {
  Problem() {
    torch::manual_seed(1);
    images = torch::randn({kSteps, kBatch, 20});
    labels = torch::randint(10, {kSteps, kBatch}, torch::kLong);
    for (const auto& parameter : make_model()->parameters()) weights.push_back(parameter.detach().clone());
  }
  torch::Tensor images, labels;
  Tensors weights;
};

void set_weights(torch::nn::Module& model, const Tensors& weights) {
  const torch::NoGradGuard no_grad;
  const auto parameters = model.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) parameters[i].copy_(weights[i]);
}

using MakeOptimizer = std::function<std::unique_ptr<torch::optim::Optimizer>(Tensors)>;

std::unique_ptr<torch::optim::Optimizer> momentum(Tensors parameters) {
  return std::make_unique<torch::optim::SGD>(std::move(parameters), torch::optim::SGDOptions(0.05).momentum(0.9));
}
std::unique_ptr<torch::optim::Optimizer> adam(Tensors parameters) {
  return std::make_unique<torch::optim::Adam>(std::move(parameters), torch::optim::AdamOptions(1e-3));
}

// Parameters of each rank after kSteps, each rank on its slice of every batch. Rank 0 alone starts from the weights.
std::vector<Tensors> train(int size, const Problem& problem, const MakeOptimizer& make, DataParallelOptions options) {
  std::vector<Tensors> results(static_cast<std::size_t>(size));
  run_threads(size, [&](RankContext& context) {
    auto group = form_group(context).get();
    auto module = make_model();
    if (context.rank == 0) set_weights(*module, problem.weights);
    DataParallel model(module, *group, options);
    const auto optimizer = make(model->parameters());
    const int share = kBatch / size;
    for (int step = 0; step < kSteps; ++step) {
      const auto images = problem.images[step].narrow(0, context.rank * share, share);
      const auto labels = problem.labels[step].narrow(0, context.rank * share, share);
      model.zero_grad();
      torch::cross_entropy_loss(model.forward(images), labels).backward();
      optimizer->step();
    }
    for (const auto& parameter : model->parameters())
      results[static_cast<std::size_t>(context.rank)].push_back(parameter.detach().clone());
  });
  return results;
}

double difference(const Tensors& a, const Tensors& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, (a[i] - b[i]).abs().max().item<double>());
  return largest;
}

struct Case {
  const char* name;
  MakeOptimizer optimizer;
  DataParallelOptions options;
};

class EqualTraining : public ::testing::TestWithParam<Case> {};

TEST_P(EqualTraining, OfTwoRanksAndOneProcessOnTheWholeBatch) {
  const Problem problem;
  const auto one = train(1, problem, GetParam().optimizer, GetParam().options);
  const auto two = train(2, problem, GetParam().optimizer, GetParam().options);
  EXPECT_EQ(difference(two[0], two[1]), 0.0);
  EXPECT_LT(difference(one[0], two[0]), 1e-5);
  EXPECT_GT(difference(one[0], problem.weights), 1e-2);  // there was something to learn
}

INSTANTIATE_TEST_SUITE_P(
    DataParallel, EqualTraining,
    ::testing::Values(Case{"SgdWithMomentum", momentum, {}}, Case{"Adam", adam, {}},
                      Case{"GradientsInTheBuckets", momentum, {.gradient_as_bucket_view = true}},
                      Case{"SeveralBuckets", momentum, {.bucket_bytes = 1024, .first_bucket_bytes = 256}}),
    [](const auto& info) { return info.param.name; });

TEST(DataParallel, AddsUpLocallyWithinNoSync) {
  const Problem problem;
  Tensors gradients(2);
  run_threads(2, [&](RankContext& context) {
    auto group = form_group(context).get();
    DataParallel model(torch::nn::Linear(20, 1), *group);
    const auto backward = [&](int step) { model.forward(problem.images[step][context.rank]).sum().backward(); };
    {
      const auto no_sync = model.no_sync();
      backward(0);
    }
    backward(1);
    gradients[static_cast<std::size_t>(context.rank)] = model->weight.grad().flatten().clone();
  });
  // The gradient of sum(W x + b) with respect to W is x.
  const auto expected = (problem.images[0].narrow(0, 0, 2) + problem.images[1].narrow(0, 0, 2)).sum(0) / 2;
  EXPECT_TRUE(gradients[0].equal(gradients[1]));
  EXPECT_TRUE(gradients[0].allclose(expected));
}

TEST(DataParallel, GivesRankZerosBuffersToAll) {
  run_threads(2, [](RankContext& context) {
    auto group = form_group(context).get();
    torch::nn::BatchNorm1d norm(4);
    norm->running_mean.fill_(static_cast<float>(context.rank + 7));
    const DataParallel model(norm, *group);
    EXPECT_TRUE(norm->running_mean.equal(torch::full({4}, 7.0F)));
  });
}

TEST(DataParallel, RefusesModelsThatDiffer) {
  run_threads(2, [](RankContext& context) {
    auto group = form_group(context, {.operation_deadline = std::chrono::seconds(5)}).get();
    const auto make = [&] { DataParallel model(torch::nn::Linear(20, context.rank + 1), *group); };
    EXPECT_THROW(make(), Exception);
  });
}

TEST(DataParallel, RefusesAModelWithNothingToTrain) {
  const auto group = form_group(RankContext{}).get();
  const auto make = [&] { DataParallel model(torch::nn::Dropout(), *group); };
  EXPECT_THROW(make(), Exception);
}

TEST(DataParallel, EndsABackwardWhosePeerWasKilled) {
  const TemporaryFolder folder;
  const auto statuses = testing::run_processes(2, folder.path() / "store", [](RankContext& context) {
    auto group = form_group(context, {.operation_deadline = std::chrono::seconds(20)}).get();
    DataParallel model(torch::nn::Linear(20, 10), *group);
    for (int step = 0; step < 5; ++step) {
      if (context.rank == 1 && step == 3) ::kill(::getpid(), SIGKILL);
      try {
        model.zero_grad();
        model.forward(torch::ones({4, 20})).sum().backward();
      } catch (const std::exception&) {
        return step == 3 ? 0 : 1;
      }
    }
    return 1;
  });
  EXPECT_EQ(statuses[0], 0);
  EXPECT_TRUE(WIFSIGNALED(statuses[1]));
}

}  // namespace
}  // namespace rt::train
