// A gang's programs in any language: their reports come when they like, and torchrun's kind wants a store to meet at.

#include <charconv>
#include <fstream>

#include "rt/actors/store_host.h"
#include "rt/actors/trial_rank.h"
#include "rt/runtime/wire/message.h"
#include "rt/runtime/wire/trial.capnp.h"
#include "rt/tune/filing.h"
#include "rt/tune/gang.h"
#include "rt/tune/metrics_text.h"

namespace rt::tune {

void Gang::next_program_report(int rank) {
  if (ranks_.empty()) return;  // killed while a checkpoint was looked at
  ranks_[static_cast<std::size_t>(rank)].reading = true;
  ask(rank, detail::kTrialStep, "", [this](int from, const std::string& bytes) { on_program_report(from, bytes); });
}

void Gang::on_program_report(int rank, const std::string& bytes) {
  Report report{.trial = trial_, .generation = generation_};
  std::string checkpoint;
  const Status read = wire::with_message<wire::TrialReport>(bytes, [&](wire::TrialReport::Reader from) {
    report.step = static_cast<std::int64_t>(from.getStep());
    report.metrics = metrics_of(wire::text(from.getMetrics()));
    report.finished = from.getFinished();
    checkpoint = std::filesystem::path(wire::text(from.getCheckpoint())).filename().string();
  });
  if (!read) return fail(rank, {read.error().code, "its report: " + read.error().message});
  if (report.finished) {
    Rank& member = ranks_[static_cast<std::size_t>(rank)];
    member.finished = true;
    member.reading = false;
    if (stopping_) return kill_when_read();
    if (rank == 0) last_program_report_ = report;
    for (const Rank& other : ranks_)
      if (!other.finished) return;
    return tools_.tell(last_program_report_);  // the trial has ended when all of its ranks have
  }
  if (checkpoint.empty()) {
    tools_.tell(std::move(report));
    return next_program_report(rank);
  }
  auto described = std::make_shared<Result<Checkpoint>>(Checkpoint{});
  auto use = later([this, rank, report, described]() mutable {
    if (!*described && described->error().code == Code::NoSpace) return fail(rank, described->error());
    if (*described) report.checkpoint = **described;
    tools_.tell(std::move(report));
    next_program_report(rank);
  });
  tools_.filing.give([checkpoint, described, use, step = report.step, folder = checkpoints(), log = log_of(rank),
                      queue = tools_.queue] {
    *described = describe_checkpoint(folder, checkpoint);
    if (!*described)
      std::ofstream(log, std::ios::app) << "rt: step " << step
                                        << " names a checkpoint that can't be taken: " << described->error().message
                                        << "; the report counts without it\n";
    queue->put(use);
  });
}

// The store runs in the gang's first bundle, beside rank 0: MASTER_ADDR is its node.
void Gang::start_store(std::function<void()> then) {
  store_port_ = 0;
  // A rank alone needs none; it would wait for LibTorch to load.
  if (!is_program() || plan_.ranks == 1 || plan_.store.path.empty()) return then();
  store_ = tools_.client.spawn({.class_name = std::string(detail::kStoreClass),
                                .program = plan_.store.path,
                                .program_hash = plan_.store.hash,
                                .log = (folder_ / "store.log").string(),
                                .lease = lease_->id,
                                .bundle = 0});
  tools_.own(store_, this);
  const auto state = tools_.client.call(store_, detail::kStorePort, "");
  auto use = later([this, state, then] {
    if (stopping_) return;
    const Result<std::string> port = state->value();
    if (!port && (port.error().code == Code::MaybeRan || port.error().code == Code::NotSent))
      return;  // its death tells
    if (!port) return fail(0, {port.error().code, "the gang's store: " + port.error().message});
    const auto [end, code] = std::from_chars(port->data(), port->data() + port->size(), store_port_);
    if (code != std::errc{} || end != port->data() + port->size() || store_port_ == 0)
      return fail(0, {Code::Corrupt, "the gang's store says it listens on port '" + *port + "', which is none"});
    then();
  });
  state->then([queue = tools_.queue, use = std::move(use)] { queue->put(use); });
}

}  // namespace rt::tune
