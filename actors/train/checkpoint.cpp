#include "rt/actors/train/checkpoint.h"

#include <torch/serialize/input-archive.h>
#include <torch/serialize/output-archive.h>

#include "rt/actors/train/checkpoint_files.h"
#include "rt/actors/train/random_state.h"

namespace rt::train {
namespace {

using torch::serialize::InputArchive;
using torch::serialize::OutputArchive;

constexpr const char* kShared = "shared.pt";
std::string rank_file(int rank) { return "rank-" + std::to_string(rank) + ".pt"; }

std::string bytes_of(OutputArchive& archive) {
  std::string bytes;
  archive.save_to([&bytes](const void* data, std::size_t size) {
    bytes.append(static_cast<const char*>(data), size);
    return size;
  });
  return bytes;
}

std::string shared_part(const Training& training) {
  OutputArchive model, optimizer, all;
  training.model.save(model);
  training.optimizer.save(optimizer);
  all.write("model", model);
  all.write("optimizer", optimizer);
  return bytes_of(all);
}

std::string own_part(const RankPlace& place, const Training& training) {
  OutputArchive all;
  all.write("epoch", c10::IValue(static_cast<std::int64_t>(training.sampler.epoch())));
  all.write("position", c10::IValue(training.sampler.position()));
  all.write("random_cpu", random_state(torch::kCPU), /*is_buffer=*/true);
  if (!place.device.is_cpu()) all.write("random_device", random_state(place.device), /*is_buffer=*/true);
  return bytes_of(all);
}

// As Module::load, but into the tensors that are there: Module::load gives a parameter new data, and the reducer's
// hooks don't survive that: its gradients would no longer be exchanged.
void load_in_place(torch::nn::Module& module, InputArchive& archive) {
  const torch::NoGradGuard no_grad;
  const auto take = [&](const std::string& name, torch::Tensor& into, bool is_buffer) {
    torch::Tensor saved;
    archive.read(name, saved, is_buffer);
    TORCH_CHECK(saved.sizes() == into.sizes(), name, " has the shape ", saved.sizes(), ", here ", into.sizes());
    into.copy_(saved);
  };
  for (auto& parameter : module.named_parameters(/*recurse=*/false))
    take(parameter.key(), parameter.value(), /*is_buffer=*/false);
  for (auto& buffer : module.named_buffers(/*recurse=*/false)) take(buffer.key(), buffer.value(), /*is_buffer=*/true);
  for (const auto& child : module.named_children()) {
    if (!child.value()->is_serializable()) continue;
    InputArchive part;
    archive.read(child.key(), part);
    load_in_place(*child.value(), part);
  }
}

Status load_shared(const std::string& bytes, const RankPlace& place, const Training& training) {
  InputArchive all, model, optimizer;
  all.load_from(bytes.data(), bytes.size(), place.device);
  all.read("model", model);
  all.read("optimizer", optimizer);
  load_in_place(training.model, model);
  training.optimizer.load(optimizer);
  return Unit{};
}

Status load_own(const std::string& bytes, const RankPlace& place, const Training& training) {
  InputArchive all;
  all.load_from(bytes.data(), bytes.size(), torch::Device(torch::kCPU));
  c10::IValue epoch, position;
  all.read("epoch", epoch);
  all.read("position", position);
  training.sampler.seek(static_cast<std::uint64_t>(epoch.toInt()), position.toInt());
  torch::Tensor random;
  all.read("random_cpu", random, /*is_buffer=*/true);
  RT_CHECK(set_random_state(torch::kCPU, random));
  if (place.device.is_cpu()) return Unit{};
  torch::Tensor on_device;
  all.read("random_device", on_device, /*is_buffer=*/true);
  return set_random_state(place.device, on_device);
}

// LibTorch's reader and a model of another shape speak by exceptions.
template <class Load>
Status tried(const std::filesystem::path& folder, Load load) {
  try {
    return load();
  } catch (const Exception& error) {
    return Error{error.code(), folder.string() + ": " + error.what()};
  } catch (const std::exception& error) {
    return Error{Code::Invalid,
                 folder.string() + " holds another model or optimizer than this trial's: " + error.what()};
  }
}

}  // namespace

Status save_checkpoint(const std::filesystem::path& folder, const RankPlace& place, const Training& training) {
  CheckpointManifest manifest{.ranks = place.size, .step = training.step, .files = {}};
  if (place.rank == 0) RT_CHECK(write_checkpoint_file(folder, kShared, shared_part(training), manifest));
  RT_CHECK(write_checkpoint_file(folder, rank_file(place.rank), own_part(place, training), manifest));
  return write_manifest(folder, place.rank, manifest);
}

Status load_checkpoint(const std::filesystem::path& folder, const RankPlace& place, const Training& training) {
  RT_TRY(first, read_manifest(folder, 0));
  if (first.ranks != place.size)
    return Error{Code::Invalid, folder.string() + " was written by " + std::to_string(first.ranks) +
                                    " ranks and can't be read by " + std::to_string(place.size)};
  RT_TRY(own, read_manifest(folder, place.rank));
  if (own.step != first.step)
    return Error{Code::Corrupt, folder.string() + " mixes two checkpoints: rank 0 wrote step " +
                                    std::to_string(first.step) + ", rank " + std::to_string(place.rank) + " step " +
                                    std::to_string(own.step)};
  RT_TRY(shared_bytes, read_checkpoint_file(folder, kShared, first));
  RT_TRY(own_bytes, read_checkpoint_file(folder, rank_file(place.rank), own));
  RT_CHECK(tried(folder, [&] { return load_shared(shared_bytes, place, training); }));
  RT_CHECK(tried(folder, [&] { return load_own(own_bytes, place, training); }));
  training.step = first.step;
  return Unit{};
}

}  // namespace rt::train
