#include "rt/rtctl/torch/bench_train.h"

#include <ATen/Parallel.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <torch/csrc/distributed/c10d/FileStore.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <utility>

#include "rt/actors/collective/store.h"
#include "rt/rtctl/torch/training_step.h"

namespace rt::train {
namespace {

constexpr int kRanks = 2;
constexpr auto kDeadline = std::chrono::seconds(30);

// The `rank`-th core that this process may use; several ranks share one where there are fewer.
void pin(int rank) {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  int left = rank % CPU_COUNT(&allowed);
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &allowed) || left-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    ::sched_setaffinity(0, sizeof one, &one);
    return;
  }
}

double steps_per_second(TrainingStep& step, CollectiveGroup& group, int steps) {
  group.barrier().wait(kDeadline).get();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < steps; ++i) step.run();
  return steps / std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Steps a second of each form, an entry a round.
struct Rates {
  std::vector<double> ours, bare, silent;
};

void print(const Rates& rates) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < rates.ours.size(); ++i) ratios.push_back(rates.ours[i] / rates.bare[i]);
  const nlohmann::ordered_json line = {
      {"name", "train.ddp_step_gloo"}, {"value", median(rates.ours)}, {"unit", "1/s"},
      {"limit", median(rates.bare)},   {"ratio", median(ratios)},     {"silent", median(rates.silent)}};
  if (!(std::cout << line.dump() << std::endl))
    throw std::runtime_error("cannot write the figure to stdout (a full disk, or its reader is gone?)");
}

void run_rank(int rank, const std::string& store_file, const BenchTrainOptions& options) {
  pin(rank);
  at::set_num_threads(1);
  const auto values = key_value_over(c10::make_intrusive<c10d::FileStore>(store_file, kRanks));
  RankContext context;
  context.trial_id = "bench";
  context.rank = rank;
  context.size = kRanks;
  context.store = values.get();
  const auto group = form_group(context).get();

  const auto ours = data_parallel_step(*group);
  const auto bare = bare_reducer_step(*group);
  const auto silent = silent_step();
  for (TrainingStep* step : {ours.get(), bare.get(), silent.get()})
    steps_per_second(*step, *group, 20);  // buckets are laid out, caches are warm
  Rates rates;
  for (int pair = 0; pair < options.pairs; ++pair) {
    const bool is_ours_first = pair % 2 == 0;
    if (is_ours_first) rates.ours.push_back(steps_per_second(*ours, *group, options.steps));
    rates.bare.push_back(steps_per_second(*bare, *group, options.steps));
    if (!is_ours_first) rates.ours.push_back(steps_per_second(*ours, *group, options.steps));
    rates.silent.push_back(steps_per_second(*silent, *group, options.steps));
  }
  if (rank == 0) print(rates);
}

int run_rank_caught(int rank, const std::string& store_file, const BenchTrainOptions& options) {
  try {
    run_rank(rank, store_file, options);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "rt-torch bench train: rank " << rank << ": " << error.what() << "\n";
    return 1;
  }
}

}  // namespace

Status bench_train(const BenchTrainOptions& options) {
  if (options.steps < 1 || options.pairs < 1) return Error{Code::Invalid, "--steps and --pairs must be at least 1"};
  std::string folder = std::filesystem::temp_directory_path() / "rt-bench-XXXXXX";
  if (!::mkdtemp(folder.data())) return system_error("cannot create " + folder, errno);
  std::vector<pid_t> ranks;
  for (int rank = 0; rank < kRanks; ++rank) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(run_rank_caught(rank, folder + "/store", options));
    ranks.push_back(child);
  }
  bool all_well = true;
  for (const pid_t rank : ranks) {
    int status = 0;
    ::waitpid(rank, &status, 0);
    all_well = all_well && status == 0;
  }
  std::filesystem::remove_all(folder);
  if (!all_well) return Error{Code::Failed, "a rank of the benchmark failed; it said why above"};
  return Unit{};
}

}  // namespace rt::train
