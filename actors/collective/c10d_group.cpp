#include "rt/actors/collective/c10d_group.h"

#include <algorithm>

namespace rt::train {
namespace {

c10d::ReduceOp c10d_op(Reduction reduction) {
  switch (reduction) {
    case Reduction::Sum: return c10d::ReduceOp::SUM;
    case Reduction::Min: return c10d::ReduceOp::MIN;
    case Reduction::Max: return c10d::ReduceOp::MAX;
  }
  return c10d::ReduceOp::SUM;
}

// Backends say so in words only: Gloo "Timed out waiting", c10d "Operation timed out".
bool is_timeout(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text.find("timed out") != std::string::npos;
}

}  // namespace

C10dGroup::~C10dGroup() {
  if (is_aborted_) return;  // a communicator that was aborted must not be shut down again
  try {
    process_group_->shutdown();
  } catch (const std::exception&) {
    // The peers are gone already; there is nothing left to close in order.
  }
}

template <class Start>
Work C10dGroup::start(Start&& start) {
  try {
    if (is_aborted_) throw std::runtime_error("the group was aborted");
    auto work = start();
    return Work([this, work](std::chrono::milliseconds deadline) -> Status {
      try {
        work->wait(deadline);
        return Unit{};
      } catch (const std::exception& error) {
        return error_of(error);
      }
    });
  } catch (const std::exception& error) {
    return Work([failed = error_of(error)](std::chrono::milliseconds) { return Status(failed); });
  }
}

Error C10dGroup::error_of(const std::exception& error) {
  const std::string where = "rank " + std::to_string(rank()) + " of " + std::to_string(size()) + ", generation " +
                            std::to_string(generation()) + ": ";
  if (is_aborted_) {
    const std::lock_guard lock(mutex_);
    return {Code::Unavailable, where + "the group was aborted: " + abort_reason_};
  }
  const auto* c10_error = dynamic_cast<const c10::Error*>(&error);
  const std::string what = c10_error ? c10_error->what_without_backtrace() : error.what();
  return {is_timeout(what) ? Code::Deadline : Code::Unavailable, where + "a collective operation failed: " + what};
}

Work C10dGroup::broadcast(torch::Tensor tensor, int from) {
  return start([&] {
    c10d::BroadcastOptions options;
    options.rootRank = from;
    std::vector<at::Tensor> tensors{std::move(tensor)};
    return process_group_->broadcast(tensors, options);
  });
}

Work C10dGroup::all_reduce(torch::Tensor tensor, Reduction reduction) {
  return start([&] {
    c10d::AllreduceOptions options;
    options.reduceOp = c10d_op(reduction);
    std::vector<at::Tensor> tensors{std::move(tensor)};
    return process_group_->allreduce(tensors, options);
  });
}

Work C10dGroup::all_gather(torch::Tensor tensor, torch::Tensor into) {
  return start([&] {
    std::vector<std::vector<at::Tensor>> outputs{into.unbind(0)};
    std::vector<at::Tensor> inputs{std::move(tensor)};
    return process_group_->allgather(outputs, inputs);
  });
}

Work C10dGroup::barrier() {
  return start([&] { return process_group_->barrier(); });
}

void C10dGroup::abort(std::string reason) {
  {
    const std::lock_guard lock(mutex_);
    if (is_aborted_) return;
    abort_reason_ = std::move(reason);
    is_aborted_ = true;
  }
  process_group_->abort();
}

}  // namespace rt::train
