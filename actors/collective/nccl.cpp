// librt_nccl.so: the only part of rt that links libtorch_cuda. It must be compiled with the header of the NCCL that
// runs (the wheel's): ncclConfig_t differs in size between versions, and a mismatch ends in malloc.
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

#include "rt/actors/collective/backend.h"

extern "C" __attribute__((visibility("default"))) c10::intrusive_ptr<c10d::Backend> rt_make_nccl(
    const rt::train::BackendPlan& plan) {
  auto options = c10d::ProcessGroupNCCL::Options::create();
  options->timeout = plan.connect_deadline;
  return c10::make_intrusive<c10d::ProcessGroupNCCL>(plan.store, plan.rank, plan.size, std::move(options));
}
