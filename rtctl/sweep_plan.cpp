#include "rt/rtctl/sweep_plan.h"

#include <cstdlib>
#include <fstream>

#include "rt/rtctl/find_program.h"
#include "rt/tune/command.h"

namespace rt {

namespace fs = std::filesystem;

Result<FoundProgram> find_sweep_program(const tune::Sweep& sweep, const fs::path& sweep_folder) {
  FoundProgram found;
  const bool is_trainable = !sweep.trainable.empty();
  const bool interpreted = !is_trainable && tune::needs_interpreter(sweep.command, sweep.program);
  if (!sweep.program.empty()) {
    const bool must_run = is_trainable || (sweep.command.empty() && !interpreted);
    RT_TRY(program, find_program(sweep.program, sweep_folder, must_run));
    found.program = program;
  }
  if (interpreted) {
    const char* path = std::getenv("PATH");
    RT_TRY(interpreter, tune::find_in_path("python3", path ? path : ""));
    found.interpreter = interpreter;
  }
  found.job = is_trainable ? found.program : fs::path("/proc/self/exe");
  return found;
}

Result<int> gpus_per_rank(const tune::Sweep& sweep, const ClusterTotals& totals) {
  const int wanted = sweep.resources.gpus_per_rank.value_or(totals.gpus > 0 ? 1 : 0);
  const int gpus = wanted * sweep.resources.ranks, cpus = sweep.resources.cpus_per_rank * sweep.resources.ranks;
  if (gpus > static_cast<int>(totals.gpus))
    return Error{Code::Invalid, "a trial asks for " + std::to_string(gpus) + " GPU(s) (" +
                                    std::to_string(sweep.resources.ranks) + " ranks x gpus_per_rank " +
                                    std::to_string(wanted) + "), this cluster has " + std::to_string(totals.gpus) +
                                    "; set resources.gpus_per_rank to 0 or auto, or fewer ranks"};
  if (cpus > static_cast<int>(totals.cpus))
    return Error{Code::Invalid, "a trial asks for " + std::to_string(cpus) + " CPU slot(s) (" +
                                    std::to_string(sweep.resources.ranks) + " ranks x cpus_per_rank " +
                                    std::to_string(sweep.resources.cpus_per_rank) + "), this cluster has " +
                                    std::to_string(totals.cpus) + "; ask for less, or give --cpus " +
                                    std::to_string(cpus) + " if the ranks may share cores"};
  return wanted;
}

Result<tune::TrialPlan> make_plan(const tune::Sweep& sweep, const FoundProgram& found, int gpus,
                                  const fs::path& directory, const Cluster::Parts& cluster) {
  std::error_code error;
  const std::string working_folder = fs::current_path(error).string();
  if (error)
    return system_error("cannot tell the working folder, in which the trials are to run (cd into one that is there)",
                        error.value());
  tune::TrialPlan plan{.trainable = sweep.trainable,
                       .job = cluster.program,
                       .ranks = sweep.resources.ranks,
                       .cpus_per_rank = sweep.resources.cpus_per_rank,
                       .gpus_per_rank = gpus,
                       .max_failures = sweep.max_failures,
                       .directory = directory,
                       .working_folder = working_folder,
                       .python_path = RT_PYTHON_DIR};
  if (!sweep.trainable.empty()) return plan;
  if (const fs::path store = own_folder() / "rt-torch"; fs::exists(store, error)) {
    RT_TRY(copy, copy_program(store.string(), cluster.embedded->folder().path()));
    plan.store = copy;
  }
  plan.argv = [sweep, found](const tune::Value& parameters, const std::string& trial_folder) {
    const tune::CommandContext context{.program = found.program.string(),
                                       .interpreter = found.interpreter.string(),
                                       .json_file = trial_folder + "/parameters.json",
                                       .environment = [](std::string_view name) -> std::optional<std::string> {
                                         const char* value = std::getenv(std::string(name).c_str());
                                         return value ? std::optional<std::string>(value) : std::nullopt;
                                       }};
    if (tune::needs_json_file(sweep.command)) std::ofstream(context.json_file) << tune::json_text(parameters);
    return tune::make_argv(sweep.command, parameters, context);
  };
  return plan;
}

}  // namespace rt
