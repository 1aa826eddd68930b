#include "rt/runtime/node/fork_server_link.h"

#include <signal.h>
#include <sys/wait.h>

#include "rt/runtime/base/spawn_process.h"
#include "rt/runtime/net/unix_socket.h"
#include "rt/runtime/wire/message.h"

namespace rt {

Result<std::unique_ptr<ForkServerLink>> ForkServerLink::start(boost::asio::io_context& io, const ForkServerStart& start,
                                                              Handlers handlers) {
  RT_TRY(ends, socket_pair());
  std::vector<std::string> added = start.environment;
  added.push_back("RT_ROLE=fork_server");
  added.push_back("RT_FORK_FD=3");
  RT_TRY(pid, spawn_process({.argv = {start.program},
                             .environment = environment_with(added),
                             .log = start.log,
                             .inherit_fd = ends.second.get()}));
  return std::unique_ptr<ForkServerLink>(
      new ForkServerLink(io, pid, std::move(ends.first), start, std::move(handlers)));
}

ForkServerLink::ForkServerLink(boost::asio::io_context& io, pid_t pid, Fd socket, const ForkServerStart& start,
                               Handlers handlers)
    : program_(start.program),
      log_(start.log),
      pid_(pid),
      transport_(make_unix_transport(io, socket.release())),
      timer_(io),
      handlers_(std::move(handlers)) {
  transport_->start({.on_frame = [this](const Frame& frame) { on_frame(frame); },
                     .on_close =
                         [this](const Error&) {
                           lose({Code::Unavailable, ""});
                         }});
  watch_start(start.ready_deadline);
}

ForkServerLink::~ForkServerLink() {
  *alive_ = false;
  transport_->close();
  if (reaped_) return;  // its pid may be another's by now
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void ForkServerLink::watch_start(std::chrono::milliseconds deadline) {
  timer_.expires_after(deadline);
  timer_.async_wait([this, alive = alive_, deadline](const boost::system::error_code& error) {
    if (error || !*alive || ready_) return;
    lose({Code::Deadline, "it did not reach rt::connect within " + std::to_string(deadline.count()) +
                              " ms; rt::connect must be the first statement of its main"});
  });
}

void ForkServerLink::fork(std::string start_worker) {
  if (ready_)
    (void)transport_->send(FrameType::Control, 0, start_worker);  // a failure shows as on_close
  else
    waiting_.push_back(std::move(start_worker));
}

void ForkServerLink::kill_tree(pid_t pid) {
  capnp::MallocMessageBuilder builder;
  builder.initRoot<wire::Control>().setKillTree(static_cast<std::uint32_t>(pid));
  (void)transport_->send(FrameType::Control, 0, wire::to_bytes(builder));
}

void ForkServerLink::on_frame(const Frame& frame) {
  if (lost_) return;
  std::string refused;
  bool is_first = false;
  const Status read = wire::with_message<wire::Control>(frame.body, [&](wire::Control::Reader control) {
    if (control.isForked()) return handlers_.on_forked(control.getForked());
    if (control.isExited())
      return handlers_.on_exited(static_cast<pid_t>(control.getExited().getPid()), control.getExited().getStatus());
    if (!control.isReady()) return;
    is_first = true;
    refused = wire::text(control.getReady().getError());
    if (control.getReady().getVersion() != wire::PROTOCOL_VERSION)
      refused = "it was built with protocol " + std::to_string(control.getReady().getVersion()) + ", this rt speaks " +
                std::to_string(static_cast<std::uint32_t>(wire::PROTOCOL_VERSION)) + "; build it again";
  });
  if (!read) return lose(read.error());
  if (!refused.empty()) return lose({Code::Refused, refused});
  if (!is_first) return;
  ready_ = true;
  timer_.cancel();
  for (const std::string& request : std::exchange(waiting_, {})) (void)transport_->send(FrameType::Control, 0, request);
}

void ForkServerLink::lose(Error error) {
  if (std::exchange(lost_, true)) return;
  transport_->close();
  if (error.message.empty()) return tell_how_it_ended(/*looks_left=*/50);
  tell_lost(error);
}

// Its socket closes a little before it can be reaped, so there are some looks, a millisecond apart.
void ForkServerLink::tell_how_it_ended(int looks_left) {
  const std::string when = ready_ ? "" : " before it reached rt::connect";
  int status = 0;
  reaped_ = ::waitpid(pid_, &status, WNOHANG) == pid_;
  const Code code = ready_ ? Code::Unavailable : Code::Invalid;
  if (reaped_ && WIFEXITED(status))
    return tell_lost({code, "it ended with exit code " + std::to_string(WEXITSTATUS(status)) + when});
  if (reaped_)  // a program doesn't kill itself so: someone else did
    return tell_lost({WTERMSIG(status) == SIGKILL ? Code::Unavailable : code,
                      "signal " + std::to_string(WTERMSIG(status)) + " ended it" + when});
  if (looks_left == 0) return tell_lost({code, "it closed its connection" + when});
  timer_.expires_after(std::chrono::milliseconds(1));
  timer_.async_wait([this, alive = alive_, looks_left](const boost::system::error_code& error) {
    if (!error && *alive) tell_how_it_ended(looks_left - 1);
  });
}

void ForkServerLink::tell_lost(const Error& why) {
  timer_.cancel();
  handlers_.on_lost(
      {why.code, "the program " + program_ + " can't serve actors: " + why.message + " (its output: " + log_ + ")"});
}

}  // namespace rt
