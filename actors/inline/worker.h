#pragma once
// InlineWorker: an actor without a process of its own (what run_worker is in one): its mailbox, its methods, its own
// place in the cluster, on a fiber of the scheduler.
//
// Owner: InlineNode. It begins when the scheduler gives it its first turn, and has ended when `on_ended` is
// called: it left, was killed (its stack is unwound by WorkerEnds, at its next wait), or couldn't be constructed. Its
// object is destroyed in each case: there is no process whose end would take its memory.

#include <optional>

#include "rt/actors/inline/link.h"
#include "rt/actors/mailbox.h"
#include "rt/actors/serving.h"
#include "rt/actors/worker_start.h"

namespace rt::detail {

class InlineWorker {
 public:
  enum class End { Left, Killed, NotConstructed };

  InlineWorker(Scheduler& scheduler, WorkerStart start);
  ~InlineWorker();

  void join(std::shared_ptr<Client> client, std::function<void()> on_ended);
  void accept(std::shared_ptr<InlineLink> caller);
  void keep(const std::shared_ptr<InlineLink>& link) { links_.push_back(link); }  // it is closed when this ends

  Party& party() { return party_; }
  const WorkerStart& start() const { return start_; }
  bool has_begun() const { return has_begun_; }
  End end() const { return end_; }
  const std::string& why() const { return why_; }  // it wasn't constructed

 private:
  void live();
  void serve();

  Scheduler& scheduler_;
  const WorkerStart start_;
  Party party_;
  Strand strand_{party_};  // its methods run here, but where it has more than one
  WorkerContext context_;
  Mailbox mailbox_;
  Serving serving_;
  std::shared_ptr<Client> client_;
  std::vector<std::weak_ptr<InlineLink>> links_;
  bool has_begun_ = false;
  End end_ = End::Killed;
  std::string why_;
};

}  // namespace rt::detail
