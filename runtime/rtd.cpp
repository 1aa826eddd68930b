// rtd: a head or a node of a cluster. People don't call it: rt::connect and rtctl do.
//
//   rtd head --run FOLDER [--driver-fd 3]
//   rtd node --run FOLDER --mark RT_RUN=ID [--driver-fd 3] [--cpus N] [--simulate-gpus N] [--memory BYTES]
//            [--object-store BYTES] [--resource NAME=AMOUNT]...

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <charconv>
#include <csignal>
#include <cstdio>

#include "rt/runtime/base/log.h"
#include "rt/runtime/base/process_setup.h"
#include "rt/runtime/device/memory.h"
#include "rt/runtime/device/offer.h"
#include "rt/runtime/device/oom_kills.h"
#include "rt/runtime/head/server.h"
#include "rt/runtime/node/agent.h"

namespace {

struct Arguments {
  std::string run, mark;
  int driver_fd = -1;
  int cpus = 0;                    // 0: what this machine has
  int simulated_gpus = 0;          // 0: what this machine has
  std::uint64_t memory = 0;        // 0: what this machine has
  std::uint64_t object_store = 0;  // 0: a share of the memory
  std::vector<std::string> resources;
};

int fail(const rt::Error& error) {
  rt::log::error("{}", error.message);
  return 1;
}

int run_head(const Arguments& arguments) {
  boost::asio::io_context io(1);
  const auto head = rt::HeadServer::open(io, {.run_folder = arguments.run, .driver_fd = arguments.driver_fd});
  if (!head) return fail(head.error());
  io.run();
  return 0;
}

rt::Result<std::map<std::string, std::uint64_t>> resources(const std::vector<std::string>& given) {
  std::map<std::string, std::uint64_t> amounts;
  for (const std::string& entry : given) {
    const auto equals = entry.rfind('=');
    std::uint64_t amount = 0;
    const char* const end = entry.data() + entry.size();
    if (equals == 0 || equals == std::string::npos ||
        std::from_chars(entry.data() + equals + 1, end, amount).ptr != end || equals + 1 == entry.size())
      return rt::Error{rt::Code::Invalid, "a resource is NAME=AMOUNT, a whole number: not '" + entry + "'"};
    amounts[entry.substr(0, equals)] = amount;
  }
  return amounts;
}

int run_node(const Arguments& arguments) {
  const auto offer = rt::node_offer({.cpus = arguments.cpus,
                                     .simulated_gpus = arguments.simulated_gpus,
                                     .memory = arguments.memory,
                                     .object_store = arguments.object_store});
  if (!offer) return fail(offer.error());
  const auto amounts = resources(arguments.resources);
  if (!amounts) return fail(amounts.error());
  boost::asio::io_context io(1);
  rt::Agent agent(io, {.run_folder = arguments.run,
                       .mark = arguments.mark,
                       .cores = offer->cores,
                       .gpus = offer->gpus,
                       .memory = offer->memory,
                       .resources = *amounts,
                       .object_store = offer->object_store,
                       .oom_kills = [counter = rt::OomKills()] { return counter.count(); },
                       .driver_fd = arguments.driver_fd});
  if (const auto started = agent.start(); !started) return fail(started.error());
  io.run();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  rt::open_standard_streams();
  rt::leave_signals_to_driver();
  std::signal(SIGPIPE, SIG_IGN);
  CLI::App app{"A head or a node of an rt cluster; started by rt::connect and rtctl, not by hand."};
  app.require_subcommand(1);
  Arguments arguments;
  CLI::App* head = app.add_subcommand("head", "The cluster's state machine and its journal");
  CLI::App* node = app.add_subcommand("node", "A node's agent");
  for (CLI::App* command : {head, node}) {
    command->add_option("--run", arguments.run, "The run folder: sockets, logs, the head's journal")->required();
    command->add_option("--driver-fd", arguments.driver_fd, "End when the other end of this socket closes");
  }
  node->add_option("--mark", arguments.mark, "NAME=VALUE in the environment of all that this run starts")->required();
  node->add_option("--cpus", arguments.cpus, "CPU slots, the user's own word");
  node->add_option("--simulate-gpus", arguments.simulated_gpus, "GPU slots that aren't there, the user's own word");
  node->add_option("--memory", arguments.memory, "Bytes of memory that actors may reserve, the user's own word");
  node->add_option("--object-store", arguments.object_store, "Bytes of objects at most; 0: 30 % of the memory");
  node->add_option("--resource", arguments.resources, "NAME=AMOUNT of what rt knows nothing of, for actors to reserve");
  CLI11_PARSE(app, argc, argv);
  try {
    return head->parsed() ? run_head(arguments) : run_node(arguments);
  } catch (const std::exception& error) {
    return fail({rt::Code::System, std::string("rtd ends by an error that it doesn't know: ") + error.what()});
  }
}
