#pragma once
// C10dGroup: a CollectiveGroup over a c10d process group, whatever its backend. Internal: the only headers with c10d's
// types are this one, backend.h and store.h, and no public header includes them.

#include <atomic>
#include <mutex>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include "rt/actors/collective/group.h"

namespace rt::train {

class C10dGroup final : public CollectiveGroup {
 public:
  C10dGroup(const RankContext& context, torch::Device device, c10::intrusive_ptr<c10d::ProcessGroup> process_group)
      : CollectiveGroup(context, device), process_group_(std::move(process_group)) {}
  ~C10dGroup() override;

  Work broadcast(torch::Tensor tensor, int from) override;
  Work all_reduce(torch::Tensor tensor, Reduction reduction) override;
  Work all_gather(torch::Tensor tensor, torch::Tensor into) override;
  Work barrier() override;
  void abort(std::string reason) override;

  const c10::intrusive_ptr<c10d::ProcessGroup>& process_group() const { return process_group_; }

 private:
  template <class Start>
  Work start(Start&& start);
  Error error_of(const std::exception& error);

  c10::intrusive_ptr<c10d::ProcessGroup> process_group_;
  std::atomic<bool> is_aborted_ = false;
  std::mutex mutex_;  // guards reason_
  std::string abort_reason_;
};

}  // namespace rt::train
