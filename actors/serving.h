#pragma once
// Serving: runs an actor's methods on the calls that its mailbox hands out, and answers them.
//
// Owner: the worker's main. A method runs on the thread that calls `serve`, one at a time, or where the actor has
// threads, on one of its group's; a coroutine runs on the first and gives way while it waits. Urgent methods and
// cancellations come on whichever thread reads the rings.
// Invariant: each call that wants an answer gets one, unless the process ends first.

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "rt/actors/call_threads.h"
#include "rt/actors/mailbox.h"
#include "rt/actors/method_table.h"
#include "rt/actors/thrown.h"

namespace rt::detail {

class Serving {
 public:
  explicit Serving(Mailbox& mailbox);  // before the mailbox is opened
  ~Serving();

  struct Actor {
    AnyObject object;
    std::uint64_t of = 0;     // its class_hash; 0: rt's own
    void* context = nullptr;  // what handles in arguments come to life with
    Thrown place;             // told with exceptions
    std::uint32_t threads = 1;
    std::vector<std::pair<std::string, std::uint32_t>> groups;  // named ones, of so many threads
    std::function<std::unique_ptr<CallGroup>(std::uint32_t threads, CallGroup::Run run)> make_group =
        [](std::uint32_t threads, CallGroup::Run run) {
          return std::make_unique<CallThreads>(threads, std::move(run));
        };
  };
  void open(Actor actor);  // calls wait until then
  // Lets go of the object: the actor leaves. Methods under way on its threads end first. On the thread that serves.
  void close();
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
  void grant(Key call, std::uint64_t items);
  void end_streams(const Transport* reader);
  void send_on(Key call, std::string_view probe);
  std::shared_ptr<Coroutine> find(Key call) const;
  void reach(const std::shared_ptr<Coroutine>& coroutine, std::uint64_t items);  // 0: to cancel it
  static const RunningCall& call_of(const Coroutine& coroutine);
  void take_on(Mailbox::Letter& letter);
  CallGroup* group_of(const MethodEntry& method);
  void run(const Mailbox::Letter& letter, const MethodEntry& method, CallSlot& slot);
  Answer run_method(const Mailbox::Letter& letter, const MethodEntry& method);
  void begin(const Mailbox::Letter& letter, const MethodEntry& method);
  void finish(Coroutine& coroutine);
  void forget(Coroutine& coroutine);
  Answer threw() const;
  void answer(const Mailbox::Letter& letter, const Answer& answer, bool may_wait);
  Status say(const Mailbox::Letter& letter, wire::Outcome outcome, std::string_view body, bool may_wait,
             const Attachments& objects = {});

  Mailbox& mailbox_;
  Actor actor_;                  // its object is guarded by the mutex until it is open
  CallSlot first_;               // of the thread that serves
  CallGroup* common_ = nullptr;  // where methods of no group run; null: on the thread that serves

  std::mutex mutex_;  // guards all below
  Coroutines coroutines_;
  std::map<std::string, std::unique_ptr<CallGroup>, std::less<>> groups_;  // constant while it is open
};

}  // namespace rt::detail
