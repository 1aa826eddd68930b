#pragma once
// Mailbox: the calls that wait for a worker's actor, in the order in which they arrived.
//
// Owner: the worker's main. Threads: the main thread takes, and while it waits it is the one that reads the rings: a
// call that finds it waiting is handed to it at once. Between two calls it runs the coroutines that have become ready:
// the mailbox is their executor. While a method runs calls stay in their rings, which push back;
// whoever reads the rings then puts them here. Bounded: from `max_letters` on, or `max_bytes` of arguments, it holds
// who sends more: his ring fills up and he waits, until half of that is left here. What `take_urgent` takes runs where
// it is read instead. Whoever sends what is no call for this incarnation loses its connection.

#include <tbb/spin_mutex.h>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rt/actors/executor.h"
#include "rt/actors/process_store.h"
#include "rt/runtime/base/bytes.h"
#include "rt/runtime/net/ring_poller.h"
#include "rt/runtime/net/unix_socket.h"
#include "rt/runtime/wire/call.h"

namespace rt::detail {

class Mailbox final : public Executor {
 public:
  struct Letter {
    std::shared_ptr<Transport> from;
    wire::CallHeader header;
    Bytes arguments;
    Attachments objects;  // that the arguments refer to
  };

  struct Limits {
    std::size_t max_letters = 100000;
    std::size_t max_bytes = std::size_t{1} << 30;
  };

  Mailbox(boost::asio::io_context& io, std::uint64_t actor, std::uint32_t incarnation, Limits limits);
  // Of one that was made for no actor (0): whose it is. Who connects before that waits.
  void take_on(std::uint64_t actor, std::uint32_t incarnation);
  Status open(const std::string& address);  // listens there
  std::uint64_t actor() const { return actor_.load(std::memory_order_relaxed); }
  void welcome(const std::shared_ptr<Transport>& caller);
  Letter& take();  // waits; valid until the next take
  // A letter that was taken, and waits elsewhere for its turn, counts until it is picked up there. Any thread.
  void set_aside(const Letter& letter);
  void picked_up(const Letter& letter);
  void post(Job& job) override;
  ProcessStore& store() const { return store_; }
  void pause();           // for a moment, in which this thread reads and writes the rings
  std::size_t pending();  // calls that wait for their turn, here or set aside

  // Before `open`. Both run where the rings are read.
  void set_urgent(std::function<bool(const Letter&)> take_urgent) { take_urgent_ = std::move(take_urgent); }
  // A caller gives up a call that isn't waiting here: it runs, or is over.
  void set_on_cancel(std::function<void(const Transport* caller, std::uint64_t sequence)> on_cancel) {
    on_cancel_ = std::move(on_cancel);
  }
  // Somebody waits for a call that this actor hasn't answered (wait_watch.h).
  void set_on_probe(std::function<void(const Transport* caller, std::uint64_t sequence, std::string_view)> on_probe) {
    on_probe_ = std::move(on_probe);
  }
  // The reader of a stream has read so many of its items; none: it has gone, with all its streams (sequence 0).
  void set_on_grant(
      std::function<void(const Transport* caller, std::uint64_t sequence, std::uint64_t items)> on_grant) {
    on_grant_ = std::move(on_grant);
  }

 private:
  void on_connected(Fd socket);
  void keep(Letter letter);
  bool is_full(std::size_t of_letters, std::size_t of_bytes) const {
    return count_ >= of_letters || bytes_ >= of_bytes;
  }
  void count(const Letter& letter);
  void uncount(const Letter& letter);
  bool take_waiting();  // a letter that has been put here; runs the jobs before it
  Job* next_job();
  void cancel(const std::shared_ptr<Transport>& caller, std::uint64_t sequence);
  std::optional<Letter> take_out(const Transport* caller, std::uint64_t sequence);
  void tell_arrived();
  void put(const std::shared_ptr<Transport>& caller, const Frame& frame);
  bool receive_objects(Letter& letter, std::string_view body);

  std::atomic<std::uint64_t> actor_;  // set after the incarnation
  std::uint32_t incarnation_;
  std::vector<Fd> early_;  // of the I/O thread: who connected before there was an actor
  const Limits limits_;
  boost::asio::io_context& io_;
  RingPoller& poller_;
  ProcessStore& store_;
  std::unique_ptr<UnixListener> listener_;
  std::function<bool(const Letter&)> take_urgent_;

  // Of the main thread.
  Letter current_;
  std::atomic<const void*> taker_{nullptr};  // the main thread while it waits: what it reads itself is the next letter
  Waiter arrived_;

  std::function<void(const Transport*, std::uint64_t)> on_cancel_;
  std::function<void(const Transport*, std::uint64_t, std::string_view)> on_probe_;
  std::function<void(const Transport*, std::uint64_t, std::uint64_t)> on_grant_;
  std::atomic<std::size_t> waiting_{0};  // letters and jobs
  std::atomic<bool> is_awaited_{false};  // the main thread waits for the next letter
  tbb::spin_mutex mutex_;                // guards all below
  Queue jobs_;
  std::deque<Letter> letters_;
  std::size_t count_ = 0, bytes_ = 0;             // of these and of those set aside, and of their arguments
  std::vector<std::shared_ptr<Transport>> held_;  // until there is room again
};

}  // namespace rt::detail
