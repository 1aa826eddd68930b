#include "digits.h"

#include <rt/actors/train/data/digits.h>
#include <rt/actors/train/data/idx.h>
#include <rt/actors/train/data/split.h>
#include <torch/nn/functional/loss.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/adam.h>
#include <torch/optim/sgd.h>

namespace {

bool is_mnist(const rt::Parameters& parameters) {
  const std::string data = parameters.text_or("data", "digits");
  if (data == "mnist" || data == "digits") return data == "mnist";
  throw rt::Exception({rt::Code::Invalid, "parameter 'data' is " + data + ", wanted digits or mnist"});
}

rt::train::TrainAndTest read(const rt::Parameters& parameters) {
  if (is_mnist(parameters)) return rt::train::read_mnist(parameters.text("folder")).get();
  const std::filesystem::path folder = parameters.text_or("folder", DIGITS_FOLDER);
  const auto all = rt::train::read_digits(folder / "digits.csv.gz").get();
  return rt::train::stratified_split(all, 0.2, static_cast<std::uint32_t>(parameters.integer_or("split_seed", 0)))
      .get();
}

torch::nn::Sequential make_model(const rt::train::Dataset& data, std::int64_t hidden) {
  return torch::nn::Sequential(torch::nn::Linear(data.columns, hidden), torch::nn::ReLU(),
                               torch::nn::Linear(hidden, data.classes));
}

std::unique_ptr<torch::optim::Optimizer> make_optimizer(const rt::Parameters& parameters,
                                                        std::vector<torch::Tensor> of) {
  if (is_mnist(parameters))
    return std::make_unique<torch::optim::Adam>(std::move(of),
                                                torch::optim::AdamOptions(parameters.number_or("lr", 1e-3)));
  return std::make_unique<torch::optim::SGD>(std::move(of), torch::optim::SGDOptions(parameters.number("lr"))
                                                                .momentum(parameters.number_or("momentum", 0.9))
                                                                .weight_decay(parameters.number_or("weight_decay", 0)));
}

}  // namespace

Digits::Rows Digits::rows_of(const rt::train::Dataset& data, torch::Device device) {
  // clone: the tensors outlive `data`.
  const auto images =
      torch::from_blob(const_cast<float*>(data.features.data()), {data.rows, data.columns}, torch::kFloat);
  const auto labels = torch::from_blob(const_cast<std::int64_t*>(data.labels.data()), {data.rows}, torch::kLong);
  return {images.clone().to(device), labels.clone().to(device)};
}

void Digits::setup(rt::RankContext& context) {
  const auto& parameters = context.parameters;
  group_ = rt::train::form_group(context).get();
  place_ = {.rank = context.rank, .size = context.size, .device = group_->device()};
  const auto data = read(parameters);
  train_ = rows_of(data.train, place_.device);
  test_ = rows_of(data.test, place_.device);
  batch_ = parameters.integer_or("batch", 64);
  sampler_.emplace(rt::train::SamplerOptions{
      .rows = data.train.rows, .rank = context.rank, .size = context.size, .seed = context.seed});

  rt::train::seed_weights(context.seed);
  auto model = make_model(data.train, parameters.integer_or("hidden", is_mnist(parameters) ? 512 : 64));
  model->to(place_.device);
  model_.emplace(model, *group_);
  optimizer_ = make_optimizer(parameters, model->parameters());
  rt::train::seed_rank(context.seed, context.rank);
}

rt::Metrics Digits::step() {
  sampler_->set_epoch(epochs_);
  const double train_loss = train_one_epoch();
  ++epochs_;
  auto metrics = validate();
  metrics["train_loss"] = train_loss;
  return metrics;
}

double Digits::train_one_epoch() {
  double sum = 0;
  int batches = 0;
  for (auto rows = sampler_->next(batch_); !rows.empty(); rows = sampler_->next(batch_), ++batches) {
    const auto picked = torch::tensor(std::vector<std::int64_t>(rows.begin(), rows.end())).to(place_.device);
    optimizer_->zero_grad();
    const auto output = model_->forward(train_.images.index_select(0, picked));
    auto loss = torch::nn::functional::cross_entropy(output, train_.labels.index_select(0, picked));
    loss.backward();
    optimizer_->step();
    sum += loss.item<double>();
  }
  return sum / batches;
}

rt::Metrics Digits::validate() {
  const torch::NoGradGuard no_grad;
  const auto output = model_->module()->forward(test_.images);
  const auto right = output.argmax(1).eq(test_.labels).to(torch::kDouble).mean();
  return {{"loss", torch::nn::functional::cross_entropy(output, test_.labels).item<double>()},
          {"accuracy", right.item<double>()}};
}

rt::train::Training Digits::training() { return {*model_->module(), *optimizer_, *sampler_, epochs_}; }

void Digits::save(const std::filesystem::path& folder) { rt::train::save_checkpoint(folder, place_, training()).get(); }
void Digits::load(const std::filesystem::path& folder) { rt::train::load_checkpoint(folder, place_, training()).get(); }

RT_TRAINABLE(Digits)
