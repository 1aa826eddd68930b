#pragma once
// RingPoller: reads all rings of a process. One an event loop.
//
// Whoever waits for an answer reads the rings itself, so no other thread has to be woken for it: the first waiting
// thread leads, the others sleep until it has what they want or hands the lead over. When nobody waits, the event loop
// is woken and reads. What is read goes to its link's handlers on the thread that reads, one thread at a time.
//
// Owner: the event loop (it is a service of it). Threads: any.

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <memory>
#include <mutex>
#include <vector>

#include "rt/runtime/base/clock.h"
#include "rt/runtime/net/bell.h"
#include "rt/runtime/net/spin_budget.h"

namespace rt {

// Something that one thread waits for. Complete it once, through the poller.
class Waiter {
 public:
  bool is_done() const { return word_.load(std::memory_order_acquire) == Done; }
  void reset() { word_.store(Pending, std::memory_order_relaxed); }  // by who waits, once it is done

 private:
  friend class RingPoller;
  enum : std::uint32_t { Pending = 0, Asleep = 1, Lead = 2, Done = 3 };
  std::atomic<std::uint32_t> word_{Pending};
};

class RingPoller : public boost::asio::execution_context::service {
 public:
  using key_type = RingPoller;
  static boost::asio::execution_context::id id;

  // One ring that it reads. Both are called by one thread at a time.
  class Link {
   public:
    virtual ~Link() = default;
    virtual bool poll() = 0;            // reads what is there, writes what waits; false where there was nothing
    virtual bool has_work() const = 0;  // would poll find something?
    virtual bool has_ended() const = 0;
    virtual void end() = 0;  // after the last poll
  };

  explicit RingPoller(boost::asio::execution_context& context);
  // The first time before the loop has its thread.
  static RingPoller& of(boost::asio::io_context& io) { return boost::asio::use_service<RingPoller>(io); }

  // Code::System where the process has no descriptor left for its bell.
  Result<BellFds> bell_for_peer();
  void add(std::shared_ptr<Link> link);

  // Until it is done, or the time has come. False: it isn't done. Never on the event loop's thread.
  // Afterwards: GoAway leaves the rings to the event loop; ComeBack to nobody, as the caller will wait again within
  // microseconds, or call go_away(): peers don't have to wake anybody meanwhile.
  enum Afterwards { GoAway, ComeBack };
  bool wait(Waiter& waiter, TimePoint until, Afterwards afterwards = GoAway);
  void go_away();
  void complete(Waiter& waiter);

  boost::asio::io_context& io() const { return io_; }
  void wake();  // somebody has to look at the links again

  // What this thread's last send did: had it to wake its peer? Then waiting spins no more.
  static void has_rung(bool was_asleep) { rang_ = was_asleep; }

 private:
  void shutdown() override;
  bool take_token() { return !has_reader_.exchange(true, std::memory_order_seq_cst); }
  void lead(Waiter& waiter, TimePoint until);
  bool follow(Waiter& waiter, TimePoint until);
  void leave(Afterwards afterwards);
  void hand_over();
  bool spin(const Waiter& waiter);
  bool poll();
  bool has_work();
  void take_new_links();
  void wait_for_event();
  void on_event();

  boost::asio::io_context& io_;
  Result<OwnBell> bell_;
  boost::asio::posix::stream_descriptor event_;
  std::atomic<bool> has_reader_{false};        // the token: who set it guards the links and the budget
  std::atomic<bool> has_missed_event_{false};  // the event loop was woken and found a reader
  std::vector<std::shared_ptr<Link>> links_;
  SpinBudget budget_;
  std::atomic<bool> has_new_links_{false};
  std::mutex mutex_;  // guards what is below
  std::vector<std::shared_ptr<Link>> new_links_;
  std::vector<Waiter*> followers_;
  std::atomic<int> follower_count_{0};
  static thread_local bool rang_;
};

}  // namespace rt
