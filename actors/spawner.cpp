#include "rt/actors/spawner.h"

#include <filesystem>

#include "rt/actors/program_copy.h"
#include "rt/actors/supervisor.h"

namespace rt {

ActorId Spawner::spawn_class(std::string_view class_name, const SpawnOptions& options, std::string arguments,
                             const Attachments& objects) {
  detail::SpawnRequest request{.objects = objects,
                               .class_name = std::string(class_name),
                               .arguments = std::move(arguments),
                               .program = program_->path,
                               .program_hash = program_->hash,
                               .name = std::string(options.name),
                               .directory = options.directory.empty() ? std::filesystem::current_path().string()
                                                                      : std::string(options.directory),
                               .log = std::string(options.log),
                               .cpus = options.cpus,
                               .gpus = options.gpus,
                               .environment = {options.environment.begin(), options.environment.end()},
                               .name_space = std::string(options.name_space),
                               .detached = options.detached,
                               .supervisor = supervisor_,
                               .memory = options.memory,
                               .memory_limit = options.memory_limit,
                               .threads = options.threads,
                               .concurrency = options.concurrency,
                               .calls = {options.call_deadline, options.max_pending_calls},
                               .cpuset = options.cpuset,
                               .restarts = {.most = options.max_restarts,
                                            .window = options.restart_window,
                                            .delay = options.restart_delay,
                                            .max_delay = options.max_restart_delay}};
  for (const ThreadGroup& group : options.groups) request.groups.emplace_back(group.name, group.threads);
  for (const Resource& resource : options.resources) request.resources.emplace_back(resource.name, resource.amount);
  return client_->spawn(request);
}

Result<ActorId> Spawner::find(std::string_view name, std::string_view name_space) {
  return client_->lookup(std::string(name), std::string(name_space));
}

Result<std::vector<ActorFacts>> Spawner::list_actors(std::string_view name_space) {
  return client_->list(std::string(name_space));
}

Supervisor Spawner::supervise(const SupervisorOptions& options) {
  return {client_, program_, client_->supervise(options)};
}

}  // namespace rt
