#pragma once
// DataParallel: a model of which each rank holds a copy and trains on its own share of the data, so that after each
// step all copies are equal to what one process would have got from the whole batch (the mean over ranks of each rank's
// mean loss). A trial of one rank uses the same class and pays nothing.
//
//   rt::train::DataParallel model(torch::nn::Linear(64, 10), *group);
//   torch::optim::SGD optimizer(model->parameters(), 0.1);
//   model.zero_grad();
//   auto loss = torch::cross_entropy_loss(model.forward(images), labels);
//   loss.backward();                     // gradients are averaged while this runs
//   optimizer.step();
//
// Owner: the trainable; the group must outlive it. Thread: one, the same for forward and backward.
// Invariant: all ranks construct it, and call forward and backward, equally often and in the same order.

#include <utility>

#include "rt/actors/train/gradient_sync.h"
#include "rt/actors/train/warm_up.h"

namespace rt::train {

// While it lives, backward adds up gradients of this rank only; the next backward outside of it exchanges their sum.
// For a batch that doesn't fit into memory at once.
class [[nodiscard]] NoSync {
 public:
  explicit NoSync(GradientSync& sync) : sync_(sync), was_enabled_(sync.is_enabled()) { sync_.set_enabled(false); }
  ~NoSync() { sync_.set_enabled(was_enabled_); }
  NoSync(const NoSync&) = delete;
  NoSync& operator=(const NoSync&) = delete;

 private:
  GradientSync& sync_;
  bool was_enabled_;
};

// Holder: what torch calls a module holder (torch::nn::Linear, Sequential, or one's own TORCH_MODULE).
template <class Holder>
class DataParallel {
 public:
  // As GradientSync: called by all ranks at once, after it every rank has rank 0's parameters and buffers.
  DataParallel(Holder module, CollectiveGroup& group, const DataParallelOptions& options = {})
      : module_(std::move(module)), sync_(*module_, group, options) {}

  template <class... Inputs>
  auto forward(Inputs&&... inputs) {
    sync_.before_forward();
    auto output = module_->forward(std::forward<Inputs>(inputs)...);
    sync_.after_forward();
    return output;
  }

  // The module itself: parameters, train(), eval(). Its own forward() exchanges nothing: use it for validation only.
  auto* operator->() { return module_.ptr().get(); }
  Holder& module() { return module_; }

  void zero_grad() { sync_.zero_grad(); }
  NoSync no_sync() { return NoSync(sync_); }

 private:
  Holder module_;
  GradientSync sync_;
};

}  // namespace rt::train
