#pragma once
// Checkpoint: what a trial needs to go on as if it had never stopped, in one folder that all ranks fill together.
//
//   shared.pt      rank 0: model, optimizer, and how many ranks there were (torch::serialize; torch.jit.load reads it)
//   rank-R.pt      each rank: its random state and its place in the sampler
//   rank-R.json    each rank, last: {"format": 1, "ranks", "step", "files": {name: {"bytes", "crc32c"}}}; a rank's part
//   is
//                  complete exactly if this is there
//
// Every file is written under another name, synced and renamed, so a kill leaves whole files only; whoever owns the
// folder calls it a checkpoint when all ranks have returned. Reading checks length and checksum before LibTorch sees a
// byte. Thread: the one that trains. Danger: the bytes must be those of the run's own checkpoints: LibTorch's reader
// isn't meant for hostile files.

#include <torch/nn/module.h>
#include <torch/optim/optimizer.h>

#include <cstdint>
#include <filesystem>

#include "rt/actors/train/sampler.h"
#include "rt/runtime/base/result.h"

namespace rt::train {

// References to what a trainable trains; valid for the call.
struct Training {
  torch::nn::Module& model;
  torch::optim::Optimizer& optimizer;
  DistributedSampler& sampler;
  std::uint64_t& step;  // counted by the trainable
};

struct RankPlace {
  int rank = 0;
  int size = 1;
  torch::Device device = torch::kCPU;
};

// `folder` exists. Code::NoSpace where the disk is full, Code::System where it says no otherwise.
Status save_checkpoint(const std::filesystem::path& folder, const RankPlace& place, const Training& training);

// Into a model and an optimizer built alike. Code::NotFound names the file that isn't there; Code::Corrupt, with file
// and what was wanted and seen, where one is short or damaged; Code::Invalid where it is of another number of ranks or
// model. After an error the training may be half loaded: don't go on with it.
Status load_checkpoint(const std::filesystem::path& folder, const RankPlace& place, const Training& training);

}  // namespace rt::train
