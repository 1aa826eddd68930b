#pragma once
// The backends that a group can run on. Each function blocks until it is connected to all peers and throws what the
// backend throws. Internal to actors/collective.

#include <chrono>
#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace rt::train {

struct BackendPlan {
  c10::intrusive_ptr<c10d::Store> store;
  int rank;
  int size;
  std::chrono::milliseconds connect_deadline;
  std::string address;
};

// Gloo over TCP on the interface of `address`.
c10::intrusive_ptr<c10d::Backend> make_gloo(const BackendPlan& plan);

// NCCL, from librt_nccl.so, which is loaded now: a process that stays on the CPU never pays for libtorch_cuda.
c10::intrusive_ptr<c10d::Backend> make_nccl(const BackendPlan& plan);

// What librt_nccl.so exports under this name.
inline constexpr const char* kNcclEntry = "rt_make_nccl";
using NcclEntry = c10::intrusive_ptr<c10d::Backend> (*)(const BackendPlan&);

}  // namespace rt::train
