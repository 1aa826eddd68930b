#pragma once
// InlineFibers: what runs an actor's methods beside each other where there are no threads: one goes on while another
// waits.
//
// Owner: Serving. Thread: the scheduler's. Made and destroyed on the party's first strand, which waits meanwhile for
// the methods under way.

#include <deque>
#include <memory>
#include <vector>

#include "rt/actors/call_threads.h"
#include "rt/actors/inline/scheduler.h"

namespace rt::detail {

class InlineFibers final : public CallGroup {
 public:
  InlineFibers(Scheduler& scheduler, Party& party, std::uint32_t count, Run run);
  ~InlineFibers() override;

  void push(Mailbox::Letter letter) override;
  std::optional<Mailbox::Letter> take_out(const Transport* caller, std::uint64_t sequence) override;
  bool cancel(const Transport* caller, std::uint64_t sequence) override;
  void look(const std::function<void(const RunningCall&)>& at) const override;

 private:
  struct Place {
    explicit Place(Party& party) : strand(party) {}
    Strand strand;
    CallSlot slot;
    Waiter arrived;
    bool is_awaited = false;
  };
  void work(Place& place);

  Scheduler& scheduler_;
  const Run run_;
  std::vector<std::unique_ptr<Place>> places_;
  std::deque<Mailbox::Letter> letters_;
  std::size_t living_;
  bool is_over_ = false;
  Waiter all_ended_;
};

}  // namespace rt::detail
