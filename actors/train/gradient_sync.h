#pragma once
// GradientSync: keeps the ranks' copies of a model equal with c10d's own Reducer, by the steps of PyTorch's
// DistributedDataParallel (torch 2.15, torch/nn/parallel/distributed.py): parameters are compared and broadcast from
// rank 0 at the start, gradients are averaged bucket by bucket while backward still runs, and buckets are laid out anew
// once, in the order in which gradients came. In a group of one it does nothing.
//
// Owner: DataParallel. Thread: the one that runs forward and backward. It keeps its own references to the parameters.
// Invariant: before_forward and after_forward come in pairs around a forward, and one backward follows.
// Danger: an exception from a collective (a peer died) leaves the gradients half averaged; the rank ends or reloads.

#include <torch/nn/module.h>

#include <cstddef>
#include <memory>

#include "rt/actors/collective/group.h"

namespace rt::train {

struct DataParallelOptions {
  std::size_t bucket_bytes = 25 * 1024 * 1024;
  std::size_t first_bucket_bytes = 1024 * 1024;  // small, so that its all-reduce starts early

  // Gradients lie in the buckets themselves: saves a copy of each a step. Then only zero_grad() of this class may clear
  // them: the optimizer's own throws "Can't detach views in-place".
  bool gradient_as_bucket_view = false;

  bool broadcast_buffers = true;  // rank 0's buffers (running means, say) to all before each forward
};

class GradientSync {
 public:
  // Called by all ranks at once. Throws rt::Exception: Code::Invalid where the model has no parameter that needs a
  // gradient, Code::Failed where the ranks' models differ or a rank is gone.
  GradientSync(const torch::nn::Module& module, CollectiveGroup& group, const DataParallelOptions& options);
  ~GradientSync();

  void before_forward();
  void after_forward();
  void zero_grad();  // gradients become undefined

  // Off: backward adds up local gradients and exchanges nothing, until a backward whose forward ran with it on.
  void set_enabled(bool enabled) { is_enabled_ = enabled; }
  bool is_enabled() const { return is_enabled_; }

 private:
  struct Reduction;
  std::vector<torch::Tensor> parameters_;
  std::unique_ptr<Reduction> reduction_;  // null in a group of one
  bool is_enabled_ = true;
};

}  // namespace rt::train
