#include "rt/actors/train/warm_up.h"

#include <ATen/Parallel.h>
#include <torch/types.h>

namespace rt::train {

void warm_up_torch() {
  at::set_num_threads(1);
  const auto matrix = torch::ones({64, 64});
  torch::mm(matrix, matrix);
}

}  // namespace rt::train
