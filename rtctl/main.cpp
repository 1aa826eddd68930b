// rtctl: the command line of rt. Each subcommand is one file; this one only names them.

#include <CLI/CLI.hpp>
#include <csignal>
#include <sstream>

#include "rt/actors/cluster.h"
#include "rt/rtctl/commands.h"
#include "rt/rtctl/print.h"

namespace {

// Of a wrong command line, and of --help and --version.
int end_of_parse(const CLI::App& app, const CLI::ParseError& error) {
  std::ostringstream output, errors;
  const int code = app.exit(error, output, errors);
  rt::print_text(output.str());
  rt::print_error_text(errors.str());
  return rt::with_output_written(code == 0 ? 0 : rt::kWrong);
}

int run(int argc, char** argv) {
  CLI::App app{
      "rt: actors, hyperparameter search and training on CPU and GPU nodes.\n\n"
      "  rtctl tune sweep.yaml        run a sweep\n"
      "  rtctl tune show DIR          look at its results again\n"
      "  rtctl tune --resume DIR      go on with one that was stopped or killed\n"
      "  rtctl actors                 the actors that live on this machine\n"
      "  rtctl actor NAME             what one of them does now\n"
      "  rtctl stack NAME             where its threads are\n"};
  app.name("rtctl");
  app.set_version_flag("--version", RT_VERSION);
  app.set_help_all_flag("--help-all", "The help of every subcommand");
  app.require_subcommand(1);
  int exit_code = 0;
  rt::add_tune(app, exit_code);
  rt::add_actors(app, exit_code);
  rt::add_actor(app, exit_code);
  rt::add_stack(app, exit_code);
  rt::add_bench(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return end_of_parse(app, error);
  }
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  rt::detail::serve_if_worker();  // rtctl hosts the ranks of trials that are programs in any language
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    const std::string what = error.what();
    return rt::complain("ended by an error that it doesn't know: " + what +
                            "; what a sweep had recorded is kept: rtctl tune --resume DIR goes on",
                        rt::kFailed);
  }
}
