#pragma once
// IoThread: an event loop on a thread of its own. A process has one: for its talk with the agent, for who connects to
// it, and for its rings while nobody waits (runtime/net/ring_poller.h).

#include <pthread.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <thread>

#include "rt/runtime/net/ring_poller.h"

namespace rt::detail {

class IoThread {
 public:
  IoThread() : work_(io_.get_executor()), poller_(RingPoller::of(io_)), thread_([this] { io_.run(); }) {}
  ~IoThread() { stop(); }
  IoThread(const IoThread&) = delete;
  IoThread& operator=(const IoThread&) = delete;

  // No handler runs any more once this returns. Not on the thread itself.
  void stop() {
    io_.stop();
    if (thread_.joinable()) thread_.join();
  }
  boost::asio::io_context& io() { return io_; }
  RingPoller& poller() { return poller_; }
  // Where it may run; false: it can't.
  bool pin(const cpu_set_t& cores) {
    return ::pthread_setaffinity_np(thread_.native_handle(), sizeof cores, &cores) == 0;
  }

 private:
  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  RingPoller& poller_;
  std::thread thread_;
};

}  // namespace rt::detail
