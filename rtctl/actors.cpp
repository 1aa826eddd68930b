// rtctl actors: the living actors of a cluster.

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "rt/rtctl/attach.h"
#include "rt/rtctl/columns.h"
#include "rt/rtctl/commands.h"
#include "rt/rtctl/facts_json.h"
#include "rt/rtctl/print.h"
#include "rt/rtctl/view.h"

namespace rt {
namespace {

void print_table(const std::vector<ActorFacts>& actors) {
  std::vector<std::vector<std::string>> rows{{"ID", "NAME", "CLASS", "STATE", "PID", "RESTARTS", "NODE", "NAMESPACE"}};
  for (const ActorFacts& actor : actors)
    rows.push_back({std::to_string(actor.id), actor.name.empty() ? "-" : actor.name, actor.class_name,
                    state_text(actor.state), actor.pid == 0 ? "-" : std::to_string(actor.pid),
                    std::to_string(actor.incarnation - 1), actor.node == 0 ? "-" : std::to_string(actor.node),
                    actor.name_space});
  for (const std::string& line : in_columns(rows, terminal_size().width)) print("{}\n", line);
}

int show_actors(const ClusterQuestion& question) {
  const auto attached = Attached::join(question.cluster);
  if (!attached) return complain(attached.error().message, kWrong);
  const auto actors = (*attached)->client().list(question.name_space);
  if (!actors) return complain(actors.error().message, kFailed);
  if (question.json) {
    auto all = nlohmann::ordered_json::array();
    for (const ActorFacts& actor : *actors) all.push_back(facts_json(actor));
    print("{}\n", json_text(all));
  } else if (actors->empty()) {
    print("no actor lives in this cluster{}\n",
          question.name_space.empty() ? "" : ", in namespace " + question.name_space);
  } else {
    print_table(*actors);
  }
  return with_output_written(0);
}

}  // namespace

void add_actors(CLI::App& app, int& exit_code) {
  const auto question = std::make_shared<ClusterQuestion>();
  CLI::App* command = app.add_subcommand("actors", "The living actors of a cluster that runs on this machine");
  add_cluster_options(*command, *question);
  command->callback([question, &exit_code] { exit_code = show_actors(*question); });
}

}  // namespace rt
