#pragma once
// Embedded: a cluster inside a program: two rtd, head and node, started by the driver and ending with it.
//
// Owner: rt::Cluster. Each rtd holds the other end of a socket to this process: when the driver is gone, however it
// ended, they kill all process trees and end. The destructor waits for that, and kills what doesn't obey.

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>

#include "rt/actors/run_folder.h"

namespace rt {

struct ConnectOptions;

class Embedded {
 public:
  static Result<std::unique_ptr<Embedded>> start(const ConnectOptions& options);
  ~Embedded();

  const RunFolder& folder() const { return folder_; }
  int take_agent_fd();  // the socket to the agent, once
  Error explain(
      Error error) const;  // `error` of a first talk to the agent, with what its log says: the log goes with the folder
  // `last` runs when all processes have ended, while their logs are still there.
  void on_ended(std::function<void()> last) { on_ended_ = std::move(last); }
  void kill_everything();  // after an rtd was lost: nothing that this run started is alive when it returns

 private:
  explicit Embedded(RunFolder folder) : folder_(std::move(folder)) {}
  Status start_head(const std::string& rtd);
  Status start_node(const std::string& rtd, const ConnectOptions& options);
  Error with_log(Error error, const std::string& log) const;

  RunFolder folder_;
  Fd head_fd_, agent_fd_;
  pid_t head_ = 0, node_ = 0;
  std::function<void()> on_ended_;
};

// Where rtd is: RT_RTD, beside this executable, where this library was built, in PATH.
Result<std::string> find_rtd();

}  // namespace rt
