#pragma once
// CollectiveGroup: the ranks of one trial as a group that exchanges tensors: Gloo among CPU ranks, NCCL among GPU
// ranks, and a group of one that exchanges nothing. It is formed by all ranks at once (form_group) and lives for one
// generation of the trial: when a member dies, the group is over and the next generation forms a new one.
//
// Owner: the rank's process; it must outlive whatever was built on it (DataParallel). Thread: one at a time, except
// abort. Invariant: every rank makes the same calls in the same order, with tensors of equal shape and type. Danger: a
// Gloo call that has begun can't be interrupted: abort() makes later calls fail at once, while the one under way ends
// when a peer's socket closes or at its deadline. Whoever can't wait for that ends the process.

#include <torch/types.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "rt/actors/rank_context.h"
#include "rt/runtime/base/result.h"

namespace rt::train {

// An operation under way. Its tensors must not be touched before wait() has returned.
class Work {
 public:
  using Wait = std::function<Status(std::chrono::milliseconds)>;
  explicit Work(Wait wait) : wait_(std::move(wait)) {}

  // Code::Deadline when the time is up, Code::Unavailable when a peer is gone or the group was aborted.
  Status wait(std::chrono::milliseconds deadline) { return wait_(deadline); }

 private:
  Wait wait_;
};

enum class Reduction { Sum, Min, Max };

class CollectiveGroup {
 public:
  virtual ~CollectiveGroup() = default;
  CollectiveGroup(const CollectiveGroup&) = delete;
  CollectiveGroup& operator=(const CollectiveGroup&) = delete;

  virtual Work broadcast(torch::Tensor tensor, int from) = 0;              // in place
  virtual Work all_reduce(torch::Tensor tensor, Reduction reduction) = 0;  // in place
  virtual Work all_gather(torch::Tensor tensor, torch::Tensor into) = 0;   // `into`: [size, shape of tensor...]
  virtual Work barrier() = 0;

  // Any thread. Calls made from now on fail with `reason`.
  virtual void abort(std::string reason) = 0;

  int rank() const { return rank_; }
  int size() const { return size_; }
  int generation() const { return generation_; }
  torch::Device device() const { return device_; }  // where tensors that it exchanges must lie

 protected:
  CollectiveGroup(const RankContext& context, torch::Device device)
      : rank_(context.rank), size_(context.size), generation_(context.generation), device_(device) {}

 private:
  int rank_;
  int size_;
  int generation_;
  torch::Device device_;
};

struct GroupOptions {
  std::chrono::milliseconds meet_deadline = std::chrono::seconds(60);  // until all ranks have come
  std::chrono::milliseconds connect_deadline =
      std::chrono::seconds(2);  // of one connection; Gloo may take it five times
  std::chrono::milliseconds operation_deadline = std::chrono::minutes(10);  // of each operation, the Reducer's included
  std::string_view address = "127.0.0.1";  // of this rank's network interface; loopback is refused across nodes
};

// Called by all ranks of the gang. Meets the others under context.group_prefix(), connects, and proves the group by one
// small all-reduce. Sets LibTorch's threads to context.threads: left alone, each rank would take all cores.
// Code::Deadline names the ranks that didn't come; Code::Unavailable says what couldn't be connected; Code::Invalid,
// what in the context or the options can't work.
Result<std::unique_ptr<CollectiveGroup>> form_group(const RankContext& context, const GroupOptions& options = {});

}  // namespace rt::train
