#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

#include "rt/actors/program/child_process.h"

namespace rt {
namespace {

class PidfdNotice final : public EndNotice {
 public:
  explicit PidfdNotice(Fd fd) : fd_(std::move(fd)) {}
  int fd() const override { return fd_.get(); }

 private:
  Fd fd_;
};

// The thread ends with the child, so the owner must have ended the child before it drops this.
class ThreadNotice final : public EndNotice {
 public:
  ThreadNotice(pid_t child, Fd reader, Fd writer)
      : reader_(std::move(reader)), thread_([child, writer = std::move(writer)]() mutable {
          siginfo_t ignored;
          while (::waitid(P_PID, static_cast<id_t>(child), &ignored, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
          }
          writer.reset();
        }) {}
  ~ThreadNotice() override { thread_.join(); }
  int fd() const override { return reader_.get(); }

 private:
  Fd reader_;
  std::thread thread_;
};

}  // namespace

Result<std::unique_ptr<EndNotice>> notice_end(pid_t child, bool allow_pidfd) {
  if (allow_pidfd) {
    Fd fd(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));  // sets O_CLOEXEC by itself
    if (fd) return std::unique_ptr<EndNotice>(std::make_unique<PidfdNotice>(std::move(fd)));
    if (errno != ENOSYS && errno != EPERM) return system_error("pidfd_open of " + std::to_string(child), errno);
  }
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return system_error("cannot make a pipe", errno);
  return std::unique_ptr<EndNotice>(std::make_unique<ThreadNotice>(child, Fd(ends[0]), Fd(ends[1])));
}

}  // namespace rt
