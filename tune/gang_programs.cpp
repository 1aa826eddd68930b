// A gang's programs in any language: their reports come when they like, and torchrun's kind wants a store to meet at.

#include "rt/tune/filing.h"
#include "rt/tune/gang.h"
#include "rt/actors/store_host.h"
#include "rt/actors/trial_rank.h"
#include "rt/runtime/wire/message.h"
#include "rt/runtime/wire/trial.capnp.h"
#include "rt/tune/metrics_text.h"

namespace rt::tune {

void Gang::next_program_report(int rank) {
  ask(rank, detail::kTrialStep, "", [this](int from, const std::string& bytes) { on_program_report(from, bytes); });
}

void Gang::on_program_report(int rank, const std::string& bytes) {
  Report report{.trial = trial_, .generation = generation_};
  std::string checkpoint;
  (void)wire::with_message<wire::TrialReport>(bytes, [&](wire::TrialReport::Reader from) {
    report.step = static_cast<std::int64_t>(from.getStep());
    report.metrics = metrics_of(wire::text(from.getMetrics()));
    report.finished = from.getFinished();
    checkpoint = std::filesystem::path(wire::text(from.getCheckpoint())).filename().string();
  });
  if (report.finished) {
    ranks_[static_cast<std::size_t>(rank)].finished = true;
    if (rank == 0) last_program_report_ = report;
    for (const Rank& other : ranks_)
      if (!other.finished) return;
    return tools_.tell(last_program_report_);  // the trial has ended when all of its ranks have
  }
  if (checkpoint.empty()) {
    tools_.tell(std::move(report));
    return next_program_report(rank);
  }
  tools_.filing.give([this, rank, report, checkpoint, folder = checkpoints(), queue = &tools_.queue, alive = alive_,
                      generation = generation_]() mutable {
    auto described = describe_checkpoint(folder, checkpoint);
    queue->put([this, alive, generation, rank, report, described] () mutable {
      if (!*alive || generation != generation_ || failed_) return;
      if (!described) return fail(rank, "its report names a checkpoint that can't be read: " + described.error().message, "");
      report.checkpoint = *described;
      tools_.tell(std::move(report));
      next_program_report(rank);
    });
  });
}

// The store runs in the gang's first bundle, beside rank 0: MASTER_ADDR is its node.
void Gang::start_store(std::function<void()> then) {
  store_port_ = 0;
  if (!is_program() || plan_.store.path.empty()) return then();
  store_ = tools_.client.spawn({.class_name = std::string(detail::kStoreClass),
                                .program = plan_.store.path,
                                .program_hash = plan_.store.hash,
                                .log = (folder_ / "store.log").string(),
                                .lease = lease_->id,
                                .bundle = 0});
  tools_.own(store_, this);
  const auto state = tools_.client.call(store_, detail::kStorePort, "");
  state->then([this, alive = alive_, generation = generation_, queue = &tools_.queue, state, then] {
    queue->put([this, alive, generation, state, then] {
      if (!*alive || generation != generation_ || failed_ || stopping_) return;
      const Result<std::string>& port = state->value();
      if (!port && (port.error().code == Code::MaybeRan || port.error().code == Code::NotSent)) return;  // its death tells
      if (!port) return fail(0, "the gang's store: " + port.error().message, "");
      store_port_ = static_cast<std::uint16_t>(std::stoi(*port));
      then();
    });
  });
}

}  // namespace rt::tune
