#pragma once
// TrainingStep: the step that train.ddp_step_gloo counts, in two forms that must cost the same: through rt's
// DataParallel, and as a bare loop over c10d's own Reducer, which is the limit; and in silence, without its all-reduce,
// which tells how fast the machine is. Model 784-512-10 with ReLU, batch 64 a rank, SGD with momentum 0.9, gradients in
// the buckets: scripts/peers/ddp.py is the same step in Python. The learning rate is so small that the model stays as
// it is: one that has learnt its single batch has dead units, whose momentum decays into denormal numbers, and
// arithmetic on those costs ten times as much.

#include <memory>

#include "rt/actors/collective/group.h"

namespace rt::train {

class TrainingStep {
 public:
  virtual ~TrainingStep() = default;
  virtual void run() = 0;  // forward, backward with its all-reduce, optimizer; by all ranks together
};

// Called by all ranks at once; `group` outlives the step and has more than one rank.
std::unique_ptr<TrainingStep> data_parallel_step(CollectiveGroup& group);
std::unique_ptr<TrainingStep> bare_reducer_step(CollectiveGroup& group);
std::unique_ptr<TrainingStep> silent_step();

}  // namespace rt::train
