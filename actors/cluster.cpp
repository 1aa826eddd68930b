#include "rt/actors/cluster.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "rt/actors/cluster_parts.h"
#include "rt/actors/inspection.h"
#include "rt/actors/trial_rank.h"
#include "rt/actors/warm_up.h"
#include "rt/actors/worker.h"
#include "rt/runtime/base/process_setup.h"
#include "rt/runtime/node/fork_server.h"

namespace rt {

Cluster::Cluster(std::unique_ptr<Parts> parts)
    : Spawner(parts->client.get(), &parts->program), parts_(std::move(parts)) {}
Cluster::Cluster(Cluster&&) noexcept = default;
Cluster& Cluster::operator=(Cluster&&) noexcept = default;
Cluster::~Cluster() = default;

detail::Client& Cluster::client() { return *parts_->client; }

void Cluster::on_death(std::function<void(const ActorDeath&)> handler) { client().on_death(std::move(handler)); }

Result<ClusterTotals> Cluster::totals() { return client().totals(); }

Result<std::unique_ptr<Cluster::Parts>> Cluster::Parts::start(const ConnectOptions& options,
                                                              const std::string& program) {
  auto parts = std::make_unique<Parts>();
  RT_TRY(embedded, Embedded::start(options));
  parts->embedded = std::move(embedded);
  RT_TRY(copy, copy_program(program, parts->embedded->folder().path()));
  parts->program = std::move(copy);
  const int agent_fd = parts->embedded->take_agent_fd();
  const auto joined = detail::say_hello(agent_fd, {.name_space = std::string(options.name_space)});
  if (!joined) {
    ::close(agent_fd);
    return parts->embedded->explain(joined.error());
  }
  parts->io = std::make_unique<detail::IoThread>();
  parts->client =
      detail::Client::start(detail::ClientStart{.io = parts->io.get(), .agent_fd = agent_fd, .joined = *joined});
  return parts;
}

Result<std::unique_ptr<Cluster::Parts>> Cluster::Parts::start_inline(const ConnectOptions& options) {
  auto parts = std::make_unique<Parts>();
  RT_TRY(node, detail::InlineNode::start(options));
  parts->inline_node = std::move(node);
  parts->program.path = "/proc/self/exe";
  parts->client = parts->inline_node->join_driver(std::string(options.name_space));
  return parts;
}

Status Cluster::Parts::echo_logs() {
  RT_TRY(started, LogEcho::start());
  echo = std::move(started);
  embedded->on_ended([to = echo.get()] { to->finish(); });
  client->follow_logs([to = echo.get()](const detail::LogBegins& begins) {
    to->follow({.path = begins.log, .name = begins.name + " " + std::to_string(begins.pid), .begin = begins.begin});
  });
  return Unit{};
}

namespace {

bool is_set(const char* variable) {
  const char* const value = std::getenv(variable);
  return value && *value && std::string_view(value) != "0";
}

// RT_LOCAL: how a cluster inside this program runs.
bool is_to_run_inline() {
  const char* const local = std::getenv("RT_LOCAL");
  if (!local || !*local) return false;
  if (std::string_view(local) == "inline") return true;
  throw Exception(
      {Code::Invalid, std::string("RT_LOCAL is '") + local +
                          "', which says nothing to rt: set it to inline (everything on this one thread, for "
                          "a debugger), or unset it"});
}

}  // namespace

Cluster connect(int, char**, ConnectOptions options) {
  detail::serve_if_worker();
  if (is_to_run_inline()) return Cluster(Cluster::Parts::start_inline(options).get());
  auto parts = Cluster::Parts::start(options, "/proc/self/exe").get();
  parts->client->on_said([](const std::string& what) { std::fprintf(stderr, "%s\n", what.c_str()); });
  if (options.echo_logs || is_set("RT_ECHO")) parts->echo_logs().get();
  Embedded* const embedded = parts->embedded.get();
  // Half a cluster is of no use: what still runs is killed; calls have failed with Unavailable by then.
  parts->client->on_agent_lost([embedded] { embedded->kill_everything(); });
  return Cluster(std::move(parts));
}

void detail::serve_if_worker() {
  open_standard_streams();
  if (!is_fork_server()) return;
  leave_signals_to_driver();
  register_trial_rank();
  register_inspection();
  const std::string start_worker = serve_forks(run_warm_ups);
  run_worker(start_worker);
}

}  // namespace rt
