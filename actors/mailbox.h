#pragma once
// Mailbox: the calls that wait for a worker's actor, in the order in which they arrived.
//
// Owner: the worker's main. Threads: its own I/O thread puts, the main thread takes. Bounded: over `max_letters`, or
// `max_bytes` of arguments, a call is answered at once with Outcome::Full, and doesn't run. What `take_urgent` takes
// runs on the I/O thread instead. Whoever sends what is no call for this incarnation loses its connection.

#include <boost/asio/io_context.hpp>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "rt/runtime/net/unix_socket.h"
#include "rt/runtime/wire/call.h"

namespace rt::detail {

class Mailbox {
 public:
  struct Letter {
    std::shared_ptr<Transport> from;
    wire::CallHeader header;
    std::string arguments;
  };

  struct Limits {
    std::size_t max_letters = 100000;
    std::size_t max_bytes = std::size_t{1} << 30;  // one letter is always taken
  };

  Mailbox(std::uint64_t actor, std::uint32_t incarnation, Limits limits);
  ~Mailbox();
  Status open(const std::string& address);                                                              // listens there
  Letter take();                                                                                        // waits
  void set_urgent(std::function<bool(Letter&)> take_urgent) { take_urgent_ = std::move(take_urgent); }  // before open

 private:
  void welcome(const std::shared_ptr<Transport>& caller);
  bool keep(Letter& letter);  // false: there is no room
  void put(const std::shared_ptr<Transport>& caller, const Frame& frame);

  const std::uint64_t actor_;
  const std::uint32_t incarnation_;
  const Limits limits_;
  boost::asio::io_context io_{1};
  std::unique_ptr<UnixListener> listener_;
  std::function<bool(Letter&)> take_urgent_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Letter> letters_;
  std::size_t bytes_ = 0;  // of their arguments
  std::thread thread_;
};

}  // namespace rt::detail
