#include "rt/runtime/node/fork_server_link.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rt/runtime/net/unix_socket.h"
#include "rt/runtime/node/spawn_process.h"
#include "rt/runtime/wire/message.h"

namespace rt {

Result<std::unique_ptr<ForkServerLink>> ForkServerLink::start(boost::asio::io_context& io, const ForkServerStart& start,
                                                              Handlers handlers) {
  RT_TRY(ends, socket_pair());
  ProcessStart process{.argv = {start.program}, .environment = start.environment, .inherit_fd = ends.second,
                       .log = start.log};
  process.environment.push_back("RT_ROLE=fork_server");
  process.environment.push_back("RT_FORK_FD=3");
  const Result<pid_t> pid = spawn_process(process);
  ::close(ends.second);
  if (!pid) {
    ::close(ends.first);
    return pid.error();
  }
  return std::unique_ptr<ForkServerLink>(new ForkServerLink(io, *pid, ends.first, start, std::move(handlers)));
}

ForkServerLink::ForkServerLink(boost::asio::io_context& io, pid_t pid, int fd, const ForkServerStart& start,
                               Handlers handlers)
    : program_(start.program),
      log_(start.log),
      pid_(pid),
      transport_(make_unix_transport(io, fd)),
      timer_(io, start.ready_deadline),
      handlers_(std::move(handlers)) {
  transport_->start({.on_frame = [this](const Frame& frame) { on_frame(frame); },
                     .on_close = [this](const Error&) { lose({Code::Unavailable, ""}); }});
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(start.ready_deadline).count();
  timer_.async_wait([this, seconds](const boost::system::error_code& error) {
    if (!error)
      lose({Code::Deadline, "it did not reach rt::connect within " + std::to_string(seconds) +
                                " s; rt::connect must be the first statement of its main"});
  });
}

ForkServerLink::~ForkServerLink() {
  transport_->close();
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void ForkServerLink::fork(std::string start_worker) {
  if (ready_) (void)transport_->send(FrameType::Control, 0, start_worker);  // a failure shows as on_close
  else waiting_.push_back(std::move(start_worker));
}

void ForkServerLink::kill_tree(pid_t pid) {
  capnp::MallocMessageBuilder builder;
  builder.initRoot<wire::Control>().setKillTree(static_cast<std::uint32_t>(pid));
  (void)transport_->send(FrameType::Control, 0, wire::to_bytes(builder));
}

void ForkServerLink::on_frame(const Frame& frame) {
  std::string refused;
  const Status read = wire::with_message<wire::Control>(frame.body, [&](wire::Control::Reader control) {
    if (control.isForked()) handlers_.on_forked(control.getForked());
    if (control.isExited()) handlers_.on_exited(static_cast<pid_t>(control.getExited().getPid()), control.getExited().getStatus());
    if (!control.isReady()) return;
    refused = wire::text(control.getReady().getError());
    if (control.getReady().getVersion() != wire::PROTOCOL_VERSION)
      refused = "it was built with protocol " + std::to_string(control.getReady().getVersion()) + ", this rt speaks " +
                std::to_string(static_cast<std::uint32_t>(wire::PROTOCOL_VERSION)) + "; build it again";
    ready_ = true;
  });
  if (!read) return lose(read.error());
  if (!refused.empty()) return lose({Code::Refused, refused});
  timer_.cancel();
  if (ready_)
    for (const std::string& request : std::exchange(waiting_, {}))
      (void)transport_->send(FrameType::Control, 0, request);
}

void ForkServerLink::lose(Error error) {
  if (std::exchange(lost_, true)) return;
  timer_.cancel();
  transport_->close();
  if (error.message.empty()) {
    // A short wait: its sockets close before it can be reaped.
    int status = 0;
    pid_t reaped = 0;
    for (int i = 0; i < 50 && (reaped = ::waitpid(pid_, &status, WNOHANG)) == 0; ++i) ::usleep(1000);
    if (reaped > 0 && WIFEXITED(status)) error.message = "it ended with exit code " + std::to_string(WEXITSTATUS(status));
    else if (reaped > 0 && WIFSIGNALED(status)) error.message = "signal " + std::to_string(WTERMSIG(status)) + " ended it";
    else error.message = "it closed its connection";
    if (!ready_) error.message += " before it reached rt::connect";
  }
  error.message = "the program " + program_ + " can't serve actors: " + error.message + " (its output: " + log_ + ")";
  handlers_.on_lost(error);
}

}  // namespace rt
