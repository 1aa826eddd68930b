#pragma once
// Mailbox: the calls that wait for a worker's actor, in the order in which they arrived.
//
// Owner: the worker's main. Threads: the main thread takes, and while it waits it is the one that reads the rings: a
// call that finds it waiting is handed to it at once. While a method runs calls stay in their rings, which push back;
// whoever reads the rings then puts them here. Bounded: over `max_letters`, or `max_bytes` of arguments, a call is
// answered at once with Outcome::Full, and doesn't run. What `take_urgent` takes runs where it is read instead. Whoever
// sends what is no call for this incarnation loses its connection.

#include <tbb/spin_mutex.h>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "rt/runtime/base/bytes.h"
#include "rt/runtime/net/ring_poller.h"
#include "rt/runtime/net/unix_socket.h"
#include "rt/runtime/wire/call.h"

namespace rt::detail {

class Mailbox {
 public:
  struct Letter {
    std::shared_ptr<Transport> from;
    wire::CallHeader header;
    Bytes arguments;
  };

  struct Limits {
    std::size_t max_letters = 100000;
    std::size_t max_bytes = std::size_t{1} << 30;  // one letter is always taken
  };

  Mailbox(boost::asio::io_context& io, std::uint64_t actor, std::uint32_t incarnation, Limits limits);
  Status open(const std::string& address);  // listens there
  const Letter& take();                     // waits; valid until the next take
  void set_urgent(std::function<bool(const Letter&)> take_urgent) { take_urgent_ = std::move(take_urgent); }

 private:
  void welcome(const std::shared_ptr<Transport>& caller);
  bool keep(Letter& letter);  // false: there is no room
  bool take_waiting();        // one that has been put here
  void put(const std::shared_ptr<Transport>& caller, const Frame& frame);

  const std::uint64_t actor_;
  const std::uint32_t incarnation_;
  const Limits limits_;
  boost::asio::io_context& io_;
  RingPoller& poller_;
  std::unique_ptr<UnixListener> listener_;
  std::function<bool(const Letter&)> take_urgent_;

  // Of the main thread.
  Letter current_;
  const void* taker_ = nullptr;  // the main thread while it waits: what it reads itself is the next letter
  Waiter arrived_;

  std::atomic<std::size_t> waiting_{0};  // letters_'s size
  std::atomic<bool> is_awaited_{false};  // the main thread waits for the next letter
  tbb::spin_mutex mutex_;                // guards all below
  std::deque<Letter> letters_;
  std::size_t bytes_ = 0;  // of their arguments
};

}  // namespace rt::detail
