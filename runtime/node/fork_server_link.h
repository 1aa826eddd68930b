#pragma once
// ForkServerLink: the agent's end of one fork server: starts the program, asks for forks, hears of exits.
//
// Owner: the agent. Thread: the agent's event loop. Requests made before the program is ready wait here in order.
// Nothing waits for ever: a program that hasn't reached rt::connect within `ready_deadline` is killed and `on_lost`
// says so.

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rt/runtime/base/files.h"
#include "rt/runtime/net/transport.h"
#include "rt/runtime/wire/control.capnp.h"

namespace rt {

struct ForkServerStart {
  std::string program;                   // path of the executable
  std::vector<std::string> environment;  // NAME=VALUE, added to the agent's
  std::string log;                       // its stdout and stderr before a fork
  std::chrono::milliseconds ready_deadline{30000};
};

class ForkServerLink {
 public:
  struct Handlers {
    std::function<void(wire::Forked::Reader)> on_forked;
    std::function<void(pid_t pid, int status)> on_exited;
    // Once; its children are dead or will be killed by the agent. Code::Unavailable where it had served, or was killed:
    // another start may succeed. With any other code the program is at fault.
    std::function<void(const Error&)> on_lost;
  };

  static Result<std::unique_ptr<ForkServerLink>> start(boost::asio::io_context& io, const ForkServerStart& start,
                                                       Handlers handlers);
  ~ForkServerLink();  // kills the program if it still runs

  void fork(std::string start_worker);  // a Control with `fork`
  void kill_tree(pid_t pid);
  pid_t pid() const { return pid_; }

 private:
  ForkServerLink(boost::asio::io_context& io, pid_t pid, Fd socket, const ForkServerStart& start, Handlers handlers);
  void watch_start(std::chrono::milliseconds deadline);
  void on_frame(const Frame& frame);
  void lose(Error error);
  void tell_how_it_ended(int looks_left);
  void tell_lost(const Error& why);

  const std::string program_, log_;
  const pid_t pid_;
  std::shared_ptr<Transport> transport_;
  boost::asio::steady_timer timer_;
  Handlers handlers_;
  bool ready_ = false, lost_ = false, reaped_ = false;
  std::vector<std::string> waiting_;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // false for what the timer still calls afterwards
};

}  // namespace rt
