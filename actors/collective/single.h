#pragma once
// SingleGroup: the group of a trial with one rank. Every operation is done before it returns and changes nothing.

#include "rt/actors/collective/group.h"

namespace rt::train {

class SingleGroup final : public CollectiveGroup {
 public:
  SingleGroup(const RankContext& context, torch::Device device) : CollectiveGroup(context, device) {}

  Work broadcast(torch::Tensor, int) override { return done(); }
  Work all_reduce(torch::Tensor, Reduction) override { return done(); }
  Work all_gather(torch::Tensor tensor, torch::Tensor into) override {
    into[0].copy_(tensor);
    return done();
  }
  Work barrier() override { return done(); }
  void abort(std::string) override {}  // nobody waits in a group of one

 private:
  static Work done() {
    return Work([](std::chrono::milliseconds) { return Status(Unit{}); });
  }
};

}  // namespace rt::train
