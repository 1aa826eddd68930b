#include "rt/actors/inline/worker.h"

#include "rt/actors/inline/fibers.h"
#include "rt/actors/self.h"

namespace rt::detail {

InlineWorker::InlineWorker(Scheduler& scheduler, WorkerStart start)
    : scheduler_(scheduler),
      start_(std::move(start)),
      mailbox_(scheduler.io(), start_.actor, start_.incarnation, {}),
      serving_(mailbox_) {
  party_.actor = start_.actor;
  party_.words = "actor " + (start_.name.empty() ? std::to_string(start_.actor) : "'" + start_.name + "'");
  strand_.home = &mailbox_;
  strand_.body = [this] { live(); };
}

// In its name: what its calls' ends set off is part of it, and goes with it.
InlineWorker::~InlineWorker() {
  {
    const Scheduler::InTheNameOf itself(scheduler_, party_);
    for (const auto& weak : links_)
      if (const auto link = weak.lock()) link->close();
    scheduler_.drain_timers();
    client_.reset();
    context_.self.reset();
  }
  scheduler_.remove(party_);
}

void InlineWorker::join(std::shared_ptr<Client> client, std::function<void()> on_ended) {
  client_ = std::move(client);
  context_ = context_of(start_, *client_);
  context_.cpuset.clear();  // it is pinned to nothing
  context_.is_inline = true;
  context_.self = make_self(context_);
  context_.finish = [this] {
    (void)client_->leaving();
    end_ = End::Left;
    throw WorkerEnds{};
  };
  party_.client = client_.get();
  party_.context = &context_;
  client_->on_stop([this] {
    context_.stop.request_stop();
    context_.leave();
  });
  strand_.on_ended = std::move(on_ended);
  scheduler_.add(party_);
  scheduler_.begin(strand_);
}

void InlineWorker::accept(std::shared_ptr<InlineLink> caller) {
  keep(caller);
  mailbox_.welcome(caller);
}

void InlineWorker::live() {
  has_begun_ = true;
  try {
    if (!strand_.is_ending) serve();
  } catch (const WorkerEnds&) {
  }
  strand_.is_closing = true;
  party_.is_ending = strand_.is_ending = false;  // its destructor may wait, as that of one that leaves may
  serving_.close();
}

void InlineWorker::serve() {
  auto object = construct(start_, *client_);
  if (!object) {
    end_ = End::NotConstructed;
    why_ = object.error().message;
    return;
  }
  Serving::Actor actor = take_up(start_, *std::move(object), *client_);
  actor.make_group = [this](std::uint32_t count, CallGroup::Run run) {
    return std::make_unique<InlineFibers>(scheduler_, party_, count, std::move(run));
  };
  serving_.open(std::move(actor));
  serving_.serve();
}

}  // namespace rt::detail
