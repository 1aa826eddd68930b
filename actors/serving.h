#pragma once
// Serving: runs an actor's methods on the calls that its mailbox hands out, and answers them.
//
// Owner: the worker's main. A method runs on the thread that calls `serve`, one at a time; a coroutine gives way while
// it waits. Urgent methods and cancellations come on whichever thread reads the rings.
// Invariant: each call that wants an answer gets one, unless the process ends first.

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "rt/actors/mailbox.h"
#include "rt/actors/method_table.h"
#include "rt/actors/running_call.h"
#include "rt/actors/thrown.h"

namespace rt::detail {

class Serving {
 public:
  explicit Serving(Mailbox& mailbox);  // before the mailbox is opened
  ~Serving();

  // Calls wait until then. `context` is what handles in arguments come to life with; `place` is told with exceptions.
  void open(AnyObject object, void* context, Thrown place);
  void close();  // lets go of the object: the actor leaves
  [[noreturn]] void serve();

  struct Running {
    std::string_view method;
    std::chrono::nanoseconds time{0};
    bool is_coroutine = false;
  };
  std::vector<Running> running();  // now; the coroutines too that wait. Any thread

 private:
  struct Coroutine;                                                   // a call whose method is one
  using Key = std::pair<const Transport*, std::uint64_t>;             // caller and sequence
  using Coroutines = std::multimap<Key, std::shared_ptr<Coroutine>>;  // one-way calls share a key
  struct Answer {
    wire::Outcome outcome = wire::Outcome::Returned;
    Encoder body;
  };

  bool take_urgent(const Mailbox::Letter& letter);
  void cancel(Key call);
  void run(const Mailbox::Letter& letter);
  Answer run_method(const Mailbox::Letter& letter, const MethodEntry& method);
  void begin(const Mailbox::Letter& letter, const MethodEntry& method);
  void finish(Coroutine& coroutine);
  void forget(Coroutine& coroutine);
  Answer threw() const;
  void answer(const Mailbox::Letter& letter, const Answer& answer, bool may_wait);

  Mailbox& mailbox_;
  void* context_ = nullptr;
  Thrown place_;
  RunningCall running_;  // of the method on the main thread

  std::mutex mutex_;  // guards all below, and the object until it is open
  AnyObject object_;
  std::atomic<const Transport*> running_for_{nullptr};
  std::atomic<std::uint64_t> running_sequence_{0};
  std::atomic<bool> is_cancelling_{false};
  Coroutines coroutines_;
};

}  // namespace rt::detail
