#pragma once
// SignalWatch: SIGINT (Ctrl-C), SIGTERM and SIGHUP (the terminal was closed) as calls, on a thread of its own.
//
// Owner: the run of a sweep. The signals are blocked in every thread that starts after it, so make it before any other
// thread. One that is ignored already (by nohup, or a shell's `&`) stays so. SIGUSR1 and SIGUSR2, which batch systems
// send as warnings, are ignored. Where the system has no descriptors left the signals keep their defaults: they kill.

#include <chrono>
#include <functional>
#include <thread>

#include "rt/runtime/base/files.h"

namespace rt {

// Which signals are one demand to stop.
class StopCount {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  // n: `signal` is the n-th demand, from 1. 0: it belongs to the one before: timeout, scancel and a closed terminal
  // send several at once, and a terminal that closes while trials are saved is nobody's wish to kill them.
  int take(int signal, TimePoint now);

 private:
  int count_ = 0;
  TimePoint last_{};
};

class SignalWatch {
 public:
  // `on_demand(n)`: the n-th demand to stop, from 1.
  explicit SignalWatch(std::function<void(int)> on_demand);
  ~SignalWatch();

 private:
  void watch(const std::function<void(int)>& on_demand) const;

  Fd signals_, end_;
  std::thread thread_;
};

}  // namespace rt
