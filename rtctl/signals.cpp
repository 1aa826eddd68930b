#include "rt/rtctl/signals.h"

#include <csignal>

namespace rt {
namespace {

constexpr int kWake = SIGUSR2;  // ends the watch

sigset_t watched() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, kWake}) sigaddset(&set, signal);
  return set;
}

}  // namespace

SignalWatch::SignalWatch(std::function<void(int)> on_signal) {
  const sigset_t set = watched();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  thread_ = std::thread([set, on_signal = std::move(on_signal)] {
    int signal = 0;
    for (int count = 1; ::sigwait(&set, &signal) == 0 && signal != kWake; ++count) on_signal(count);
  });
}

SignalWatch::~SignalWatch() {
  ::pthread_kill(thread_.native_handle(), kWake);
  thread_.join();
}

}  // namespace rt
