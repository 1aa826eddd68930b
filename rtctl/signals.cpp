#include "rt/rtctl/signals.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace rt {
namespace {

constexpr std::chrono::milliseconds kOneDemand{500};  // signals that come this close are meant as one

bool is_ignored(int signal) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

sigset_t watched() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    if (!is_ignored(signal)) sigaddset(&set, signal);
  return set;
}

}  // namespace

int StopCount::take(int signal, TimePoint now) {
  if (count_ > 0 && (signal == SIGHUP || now - last_ < kOneDemand)) return 0;
  last_ = now;
  return ++count_;
}

SignalWatch::SignalWatch(std::function<void(int)> on_demand) {
  for (const int signal : {SIGUSR1, SIGUSR2}) std::signal(signal, SIG_IGN);
  const sigset_t set = watched();
  signals_ = Fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  end_ = Fd(::eventfd(0, EFD_CLOEXEC));
  if (!signals_ || !end_) return;
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  thread_ = std::thread([this, on_demand = std::move(on_demand)] { watch(on_demand); });
}

void SignalWatch::watch(const std::function<void(int)>& on_demand) const {
  StopCount demands;
  while (true) {
    pollfd waits[2] = {{signals_.get(), POLLIN, 0}, {end_.get(), POLLIN, 0}};
    if (::poll(waits, 2, -1) < 0 && errno != EINTR) return;
    if (waits[1].revents) return;
    signalfd_siginfo info;
    if (::read(signals_.get(), &info, sizeof info) != sizeof info) continue;
    if (const int n = demands.take(static_cast<int>(info.ssi_signo), std::chrono::steady_clock::now())) on_demand(n);
  }
}

SignalWatch::~SignalWatch() {
  if (!thread_.joinable()) return;
  ::eventfd_write(end_.get(), 1);
  thread_.join();
}

}  // namespace rt
