#pragma once
// SignalWatch: Ctrl-C and SIGTERM as calls, on a thread of its own. The signals are blocked in every thread that starts
// after it, so make it before any other thread.

#include <functional>
#include <thread>

namespace rt {

class SignalWatch {
 public:
  // `on_signal(n)`: the n-th signal, from 1.
  explicit SignalWatch(std::function<void(int)> on_signal);
  ~SignalWatch();

 private:
  std::thread thread_;
};

}  // namespace rt
