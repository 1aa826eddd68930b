// A job program for the kill tests: its trainable walks a vector along a path that hangs on seed and parameters alone,
// so that a run with kills in it can be held against an undisturbed one to the last bit.
//
// Parameters: gain; fall_trial and fall_step: that trial's first generation dies there; linger_ms: how long a step
// takes; ballast_kib: how much a checkpoint is larger. Environment: WALK_GATE=TRIAL/GENERATION/STEP makes that step
// wait between two files: it creates WALK_GATE_FILE.here and goes on when WALK_GATE_FILE is there.

#include <rt/rt.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "rt/actors/train/checkpoint_files.h"
#include "rt/actors/trainable.h"

class Walk {
 public:
  void setup(rt::RankContext& context) {
    context_ = context;
    gain_ = context.parameters.number("gain");
    for (std::size_t i = 0; i < place_.size(); ++i)
      place_[i] = std::sin(static_cast<double>(context.seed % 1000003) + static_cast<double>(i));
    std::printf("walk: trial %s, generation %d\n", context.trial_id.c_str(), context.generation);
    std::fflush(stdout);
  }

  rt::Metrics step() {
    ++step_;
    wait_at_gate();
    std::this_thread::sleep_for(std::chrono::milliseconds(context_.parameters.integer_or("linger_ms", 0)));
    fall();
    double sum = 0;
    for (std::size_t i = 0; i < place_.size(); ++i) {
      place_[i] = 0.9 * place_[i] + 0.1 * std::sin(gain_ + place_[(i + 1) % place_.size()]);
      sum += place_[i];
    }
    return {{"score", gain_ * static_cast<double>(step_) + sum / static_cast<double>(place_.size())}};
  }

  // By train's own files, so that their stages are among those that a kill can hit.
  void save(const std::filesystem::path& directory) {
    rt::train::CheckpointManifest manifest{.step = static_cast<std::uint64_t>(step_)};
    rt::train::write_checkpoint_file(directory, "walk.bin",
                                     {reinterpret_cast<const char*>(place_.data()), sizeof place_}, manifest)
        .get();
    const std::string ballast(static_cast<std::size_t>(context_.parameters.integer_or("ballast_kib", 0)) << 10, 'x');
    if (!ballast.empty()) rt::train::write_checkpoint_file(directory, "ballast", ballast, manifest).get();
    rt::train::write_manifest(directory, context_.rank, manifest).get();
  }

  void load(const std::filesystem::path& directory) {
    const auto manifest = rt::train::read_manifest(directory, context_.rank).get();
    const std::string bytes = rt::train::read_checkpoint_file(directory, "walk.bin", manifest).get();
    if (bytes.size() != sizeof place_) throw std::runtime_error("walk.bin has another size");
    std::memcpy(place_.data(), bytes.data(), bytes.size());
    step_ = static_cast<std::int64_t>(manifest.step);
  }

 private:
  void wait_at_gate() const {
    const char* gate = std::getenv("WALK_GATE");
    const std::string here =
        context_.trial_id + "/" + std::to_string(context_.generation) + "/" + std::to_string(step_);
    if (!gate || here != gate) return;
    const std::string file = std::getenv("WALK_GATE_FILE");
    std::ofstream(file + ".here") << ::getpid() << "\n";
    while (!std::filesystem::exists(file)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  void fall() const {
    const rt::Parameters& parameters = context_.parameters;
    if (context_.generation != 1 || parameters.text_or("fall_trial", "") != context_.trial_id) return;
    if (parameters.integer("fall_step") != step_) return;
    std::fprintf(stderr, "walk: stumbles at step %lld\n", static_cast<long long>(step_));
    std::fflush(nullptr);
    std::_Exit(3);
  }

  rt::RankContext context_;
  double gain_ = 1;
  std::int64_t step_ = 0;
  std::array<double, 64> place_{};
};

RT_TRAINABLE(Walk)

int main(int argc, char** argv) { rt::Cluster cluster = rt::connect(argc, argv); }
