#pragma once
// Mailbox: the calls that wait for a worker's actor, in the order in which they arrived.
//
// Owner: the worker's main. Threads: whoever reads the process's rings puts, the main thread takes, and while it waits
// it is the one that reads. Bounded: over `max_letters`, or
// `max_bytes` of arguments, a call is answered at once with Outcome::Full, and doesn't run. What `take_urgent` takes
// runs where it is read instead. Whoever sends what is no call for this incarnation loses its connection.

#include <boost/asio/io_context.hpp>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "rt/runtime/net/ring_poller.h"
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

  Mailbox(boost::asio::io_context& io, std::uint64_t actor, std::uint32_t incarnation, Limits limits);
  Status open(const std::string& address);  // listens there
  // Waits. Until `leave_rings` or the next take nobody looks at the rings: for a letter that is soon dealt with, so
  // that its peers needn't wake anybody.
  Letter take();
  void leave_rings() { poller_.go_away(); }
  void set_urgent(std::function<bool(Letter&)> take_urgent) { take_urgent_ = std::move(take_urgent); }  // before open

 private:
  void welcome(const std::shared_ptr<Transport>& caller);
  bool keep(Letter& letter);  // false: there is no room
  void put(const std::shared_ptr<Transport>& caller, const Frame& frame);

  const std::uint64_t actor_;
  const std::uint32_t incarnation_;
  const Limits limits_;
  boost::asio::io_context& io_;
  RingPoller& poller_;
  std::unique_ptr<UnixListener> listener_;
  std::function<bool(Letter&)> take_urgent_;
  std::mutex mutex_;  // guards all below
  std::deque<Letter> letters_;
  std::size_t bytes_ = 0;    // of their arguments
  bool is_awaited_ = false;  // the main thread waits for the next letter
  Waiter arrived_;
};

}  // namespace rt::detail
