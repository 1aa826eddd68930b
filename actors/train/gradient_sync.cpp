#include "rt/actors/train/gradient_sync.h"

#include <limits>
#include <torch/csrc/distributed/c10d/logger.hpp>
#include <torch/csrc/distributed/c10d/reducer.hpp>
#include <unordered_map>
#include <unordered_set>

#include "rt/actors/collective/c10d_group.h"

namespace rt::train {
namespace {

constexpr std::size_t kBroadcastBytes = 250 * 1024 * 1024;  // of one piece, as in PyTorch

struct NamedParameters {
  std::vector<torch::Tensor> tensors;
  std::unordered_map<std::size_t, std::string> names;
};

// What the reducer watches: each parameter that needs a gradient, once, though modules may share it.
NamedParameters parameters_of(const torch::nn::Module& module) {
  NamedParameters parameters;
  std::unordered_set<const void*> seen;
  for (const auto& item : module.named_parameters()) {
    if (!item.value().requires_grad() || !seen.insert(item.value().unsafeGetTensorImpl()).second) continue;
    parameters.names.emplace(parameters.tensors.size(), item.key());
    parameters.tensors.push_back(item.value());
  }
  return parameters;
}

std::vector<torch::Tensor> detached(const std::vector<torch::Tensor>& tensors) {
  std::vector<torch::Tensor> result;
  for (const auto& tensor : tensors) result.push_back(tensor.detach());
  return result;
}

}  // namespace

struct GradientSync::Reduction {
  c10::intrusive_ptr<c10d::ProcessGroup> group;
  std::vector<torch::Tensor> buffers;  // broadcast before a forward; empty where that isn't wanted
  std::shared_ptr<c10d::Reducer> reducer;
  std::shared_ptr<c10d::Logger> logger;  // the reducer holds it weakly
  bool are_buffers_stale = true;         // since the last forward with an exchange

  Reduction(const torch::nn::Module& module, const NamedParameters& parameters,
            c10::intrusive_ptr<c10d::ProcessGroup> process_group, const DataParallelOptions& options);
};

GradientSync::Reduction::Reduction(const torch::nn::Module& module, const NamedParameters& parameters,
                                   c10::intrusive_ptr<c10d::ProcessGroup> process_group,
                                   const DataParallelOptions& options)
    : group(std::move(process_group)) {
  c10d::verify_params_across_processes(group, parameters.tensors, std::nullopt);
  std::vector<torch::Tensor> states = detached(module.parameters());
  const auto all_buffers = detached(module.buffers());
  states.insert(states.end(), all_buffers.begin(), all_buffers.end());
  c10d::broadcast_coalesced(group, states, kBroadcastBytes, 0);
  if (options.broadcast_buffers) buffers = all_buffers;

  // One bucket at first: the order of gradients isn't known before the first backward, after which the reducer lays out
  // buckets by itself.
  const std::vector<bool> are_sparse(parameters.tensors.size(), false);
  auto [buckets, limits] = c10d::compute_bucket_assignment_by_size(
      parameters.tensors, {static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max())}, are_sparse);
  std::reverse(buckets.begin(), buckets.end());
  reducer = std::make_shared<c10d::Reducer>(
      parameters.tensors, std::move(buckets), group, are_sparse, static_cast<std::int64_t>(options.bucket_bytes),
      /*find_unused_parameters=*/false, options.gradient_as_bucket_view, parameters.names,
      static_cast<std::int64_t>(options.first_bucket_bytes), /*skip_all_reduce_unused_params=*/false,
      /*use_python_reducer=*/false, /*bucket_bytes_cap_list=*/std::vector<std::int64_t>{});
  logger = std::make_shared<c10d::Logger>(reducer);
  reducer->set_logger(logger);
  logger->set_construction_data_and_log(module.name(), {}, -1, options.broadcast_buffers, /*has_sync_bn=*/false,
                                        /*static_graph=*/false);
}

GradientSync::GradientSync(const torch::nn::Module& module, CollectiveGroup& group,
                           const DataParallelOptions& options) {
  const auto parameters = parameters_of(module);
  if (parameters.tensors.empty())
    throw Exception({Code::Invalid,
                     "data-parallel training of " + module.name() + ", which has no parameter that needs a gradient"});
  parameters_ = parameters.tensors;
  auto* const c10d_group = dynamic_cast<C10dGroup*>(&group);
  if (!c10d_group) return;
  try {
    reduction_ = std::make_unique<Reduction>(module, parameters, c10d_group->process_group(), options);
  } catch (const std::exception& error) {
    throw Exception({Code::Failed, "rank " + std::to_string(group.rank()) + " of " + std::to_string(group.size()) +
                                       " can't train " + module.name() + " with the others: " + error.what()});
  }
}

GradientSync::~GradientSync() {
  if (reduction_) reduction_->reducer->remove_autograd_hooks();
}

void GradientSync::before_forward() {
  if (!reduction_ || !torch::GradMode::is_enabled()) return;
  if (is_enabled_) {
    reduction_->logger->set_runtime_stats_and_log();
    reduction_->reducer->prepare_for_forward();
  }
  reduction_->reducer->rebuild_buckets();  // does so once, after the first backward
  if (reduction_->are_buffers_stale && !reduction_->buffers.empty())
    c10d::broadcast_coalesced(reduction_->group, reduction_->buffers, kBroadcastBytes, 0);
}

void GradientSync::after_forward() {
  if (!reduction_) return;
  const bool is_exchanged = torch::GradMode::is_enabled() && is_enabled_;
  reduction_->are_buffers_stale = is_exchanged;
  if (is_exchanged) reduction_->reducer->prepare_for_backward({});
}

void GradientSync::zero_grad() {
  for (auto& parameter : parameters_) parameter.mutable_grad().reset();
}

}  // namespace rt::train
