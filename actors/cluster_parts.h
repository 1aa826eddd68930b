#pragma once
// What a Cluster owns. For the library's own drivers (rtctl) as well, which need more than people's programs do.

#include <memory>

#include "rt/actors/client.h"
#include "rt/actors/cluster.h"
#include "rt/actors/embedded.h"
#include "rt/actors/inline/node.h"
#include "rt/actors/io_thread.h"
#include "rt/actors/log_echo.h"
#include "rt/actors/program_copy.h"

namespace rt {

struct Cluster::Parts {
  // Starts a cluster inside this process. `program`: what its workers run.
  static Result<std::unique_ptr<Parts>> start(const ConnectOptions& options, const std::string& program);

  Status echo_logs();

  // Starts one without processes, on this thread.
  static Result<std::unique_ptr<Parts>> start_inline(const ConnectOptions& options);

  std::unique_ptr<LogEcho> echo;  // ends last: of the last lines too
  // What this process started; one of the two.
  std::unique_ptr<Embedded> embedded;
  std::unique_ptr<detail::InlineNode> inline_node;
  JobProgram program;
  std::unique_ptr<detail::IoThread> io;    // none where all is on one thread
  std::shared_ptr<detail::Client> client;  // ends first
};

}  // namespace rt
