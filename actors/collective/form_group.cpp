#include <ATen/Parallel.h>
#include <torch/types.h>

#include "rt/actors/collective/backend.h"
#include "rt/actors/collective/c10d_group.h"
#include "rt/actors/collective/meeting.h"
#include "rt/actors/collective/single.h"
#include "rt/actors/collective/store.h"

namespace rt::train {
namespace {

Status check(const RankContext& context) {
  if (context.size < 1 || context.rank < 0 || context.rank >= context.size)
    return Error{Code::Invalid, "rank " + std::to_string(context.rank) + " of " + std::to_string(context.size) +
                                    " is no rank of a group: it must be from 0 to size - 1"};
  if (context.size > 1 && !context.store)
    return Error{Code::Invalid, "a group of " + std::to_string(context.size) +
                                    " ranks needs a key-value space to meet in, and the context's `store` is null"};
  return Unit{};
}

c10::intrusive_ptr<c10d::ProcessGroup> connect(const RankContext& context, const GroupOptions& options,
                                               torch::Device device) {
  const BackendPlan plan{.store = store_over(*context.store, context.group_prefix() + "c10d/", options.meet_deadline),
                         .rank = context.rank,
                         .size = context.size,
                         .connect_deadline = options.connect_deadline,
                         .address = std::string(options.address)};
  const bool is_gpu = device.is_cuda();
  auto backend = is_gpu ? make_nccl(plan) : make_gloo(plan);
  const auto type = is_gpu ? c10d::ProcessGroup::BackendType::NCCL : c10d::ProcessGroup::BackendType::GLOO;
  auto group = c10::make_intrusive<c10d::ProcessGroup>(plan.store, context.rank, context.size);
  group->setBackend(device.type(), type, backend);
  group->setDefaultBackend(type);
  group->setGroupName(context.group_prefix());
  return group;
}

// Sums 1 of each rank: right only if all are connected, in one group, and of one size.
Status prove(CollectiveGroup& group, std::chrono::milliseconds deadline) {
  auto ones = torch::ones({1}, torch::TensorOptions().dtype(torch::kFloat).device(group.device()));
  RT_CHECK(group.all_reduce(ones, Reduction::Sum).wait(deadline));
  const auto sum = ones.item<float>();
  if (sum == static_cast<float>(group.size())) return Unit{};
  return Error{Code::Unavailable, "the group's first all-reduce of " + std::to_string(group.size()) + " ones gave " +
                                      std::to_string(sum) + ": its members don't agree on who belongs to it"};
}

}  // namespace

Result<std::unique_ptr<CollectiveGroup>> form_group(const RankContext& context, const GroupOptions& options) {
  RT_CHECK(check(context));
  at::set_num_threads(context.threads);
  // A rank sees only its own GPUs (CUDA_VISIBLE_DEVICES), so its first one is number 0.
  const torch::Device device =
      context.device == DeviceKind::Gpu ? torch::Device(torch::kCUDA, 0) : torch::Device(torch::kCPU);
  if (context.size == 1) return std::unique_ptr<CollectiveGroup>(std::make_unique<SingleGroup>(context, device));

  RT_CHECK(meet(context, network_identity(), options.address, options.meet_deadline));
  try {
    auto process_group = connect(context, options, device);
    auto group = std::make_unique<C10dGroup>(context, device, process_group);
    RT_CHECK(prove(*group, options.meet_deadline));
    process_group->setTimeout(options.operation_deadline);
    return std::unique_ptr<CollectiveGroup>(std::move(group));
  } catch (const Exception& error) {
    return error.error();
  } catch (const std::exception& error) {
    return Error{Code::Unavailable, "rank " + std::to_string(context.rank) + " of trial " + context.trial_id +
                                        " couldn't connect to the " + std::to_string(context.size - 1) +
                                        " other ranks: " + error.what()};
  }
}

}  // namespace rt::train
