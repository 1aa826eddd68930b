#pragma once
// RingPoller: reads all rings of a process. One an event loop.
//
// Whoever waits for an answer reads the rings itself, so no other thread has to be woken for it: the first waiting
// thread leads, the others sleep until it has what they want or hands the lead over. When nobody waits, what arrives
// lies in the rings until somebody does; where that won't do (a continuation wants to run, bytes wait for room), an
// `Attention` has the event loop woken for each arrival. What is read goes to its link's handlers on the thread that
// reads, one thread at a time.
//
// Owner: the event loop (it is a service of it). Threads: any.

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
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
  Waiter() { reset(); }
  bool is_done() const { return word_.load(std::memory_order_acquire) == Done; }
  void reset();  // by the thread that will wait, while nobody else knows of it

  bool is_for_calls = false;  // what is waited for are calls: where one thread runs all, these say who waits for whom

 private:
  friend class RingPoller;
  enum : std::uint32_t { Pending = 0, Asleep = 1, Lead = 2, Done = 3 };
  std::atomic<std::uint32_t> word_{Pending};
  std::atomic<const void*> owner_{nullptr};  // the thread that waits
};

// Instead of reading rings, where one thread runs all that takes part: who waits gives its turn to others. Thread: that
// one.
class Turns {
 public:
  virtual bool wait(Waiter& waiter, TimePoint until) = 0;  // as RingPoller's; throws where it can never be done
  virtual void completed(Waiter& waiter) = 0;
  virtual void post(std::function<void()> run) = 0;  // soon, in the name of who posts it

 protected:
  ~Turns() = default;
};

class RingPoller : public boost::asio::execution_context::service {
 public:
  using key_type = RingPoller;
  static boost::asio::execution_context::id id;

  // One ring that it reads. All are called by one thread at a time.
  class Link {
   public:
    virtual ~Link() = default;
    virtual bool poll() = 0;            // reads what is there, writes what waits; false where there was nothing
    virtual void rest() = 0;            // before a sleep: gives back what the peer may be waiting for
    virtual bool has_work() const = 0;  // would poll find something?
    virtual bool has_ended() const = 0;
    virtual void end() = 0;  // after the last poll
  };

  explicit RingPoller(boost::asio::execution_context& context);
  // The first time before the loop has its thread.
  static RingPoller& of(boost::asio::io_context& io) { return boost::asio::use_service<RingPoller>(io); }
  boost::asio::io_context& io() { return io_; }

  // Code::System where the process has no descriptor left for its bell.
  Result<BellFds> bell_for_peer();
  void add(std::shared_ptr<Link> link);

  // Until it is done, or the time has come. False: it isn't done. Never on the event loop's thread.
  bool wait(Waiter& waiter, TimePoint until);
  void complete(Waiter& waiter);
  void post(std::function<void()> run);  // on the event loop

  // From now on whoever waits takes turns. Before anybody waits or has a ring; the turns outlive all who wait.
  void take_turns(Turns& turns);
  bool takes_turns() const { return turns_ != nullptr; }

  // From a handler: whoever polls shall stop, what was just read is what it wants.
  void stop_polling() { is_stopped_ = true; }
  bool is_stopped() const { return is_stopped_; }

  // A look at the links, where nobody else looks: what has arrived is handled on this thread.
  void look();
  void wake();  // somebody has to look at the links again

  // From `attend` to `neglect`, arrivals are handled soon also while nobody waits.
  void attend();
  void neglect() { attentions_.fetch_sub(1, std::memory_order_seq_cst); }

  // What this thread's last send did: had it to wake its peer? Then waiting spins no more.
  static void has_rung(bool was_asleep) { rang_ = was_asleep; }
  static const void* this_thread();                 // another one for each
  static bool polls_here() { return polls_here_; }  // is this a handler of what this thread reads?

 private:
  void shutdown() override;
  bool take_token() { return !has_reader_.exchange(true, std::memory_order_seq_cst); }
  void lead(Waiter& waiter, TimePoint until);
  void sleep(const Waiter& waiter, TimePoint until);
  bool follow(Waiter& waiter, TimePoint until);
  void leave();
  void hand_over();
  bool spin(const Waiter& waiter, bool has_rung);
  static void step_aside();
  bool poll();
  bool has_work();
  void end_links();
  void take_new_links();
  void wait_for_event();
  void on_event();

  boost::asio::io_context& io_;
  Turns* turns_ = nullptr;
  Result<OwnBell> bell_;
  boost::asio::posix::stream_descriptor event_;
  std::atomic<bool> has_reader_{false};  // the token: who set it guards the links and the budget
  std::atomic<bool> is_called_{false};   // by wake(): somebody has to look
  std::atomic<int> attentions_{0};
  std::vector<std::shared_ptr<Link>> links_;
  std::size_t next_link_ = 0;  // where the next poll begins
  bool is_stopped_ = false;
  SpinBudget budget_;
  std::atomic<bool> has_new_links_{false};
  std::mutex mutex_;  // guards what is below
  std::vector<std::shared_ptr<Link>> new_links_;
  std::vector<Waiter*> followers_;
  std::atomic<int> follower_count_{0};
  static thread_local bool rang_, polls_here_;
};

}  // namespace rt
