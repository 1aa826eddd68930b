#include "rt/tune/gang.h"

#include "rt/actors/trial_rank.h"
#include "rt/runtime/base/files.h"
#include "rt/runtime/wire/message.h"
#include "rt/runtime/wire/trial.capnp.h"
#include "rt/tune/filing.h"
#include "rt/tune/metrics_text.h"

namespace rt::tune {
namespace {

template <class T, class Fill>
std::string message(Fill&& fill) {
  capnp::MallocMessageBuilder builder;
  fill(builder.initRoot<T>());
  return wire::to_bytes(builder);
}

// `error` with what was under way when it came.
Error in(const std::string& what, const Error& error) { return {error.code, what + ": " + error.message}; }

// File work before a launch. A trainable's checkpoints have rt's own names: one that is in no record was cut off by a
// kill. A program names its own, and may keep what it has not reported.
Status make_ready(const std::filesystem::path& folder, bool owns_names, const std::string& restore,
                  const std::vector<Checkpoint>& held) {
  RT_CHECK(make_folders(folder));
  std::vector<std::string> names;
  for (const Checkpoint& checkpoint : held) {
    names.push_back(checkpoint.name);
    if (checkpoint.name == restore) RT_CHECK(verify_checkpoint(folder, checkpoint));
  }
  return owns_names ? drop_unrecorded(folder, names) : Status(Unit{});
}

// The answer's own bytes. NoSpace where the rank met a full disk.
Result<std::string> unwrap(const std::string& bytes) {
  Result<std::string> answer = std::string();
  RT_CHECK(wire::with_message<wire::TrialAnswer>(bytes, [&](wire::TrialAnswer::Reader from) {
    if (from.isNoSpace())
      answer = Error{Code::NoSpace, wire::text(from.getNoSpace())};
    else
      answer = wire::data(from.getDone());
  }));
  return answer;
}

}  // namespace

Gang::Gang(TrialIndex trial, const TrialPlan& plan, GangTools tools)
    : trial_(trial),
      plan_(plan),
      tools_(std::move(tools)),
      id_(trial_id(trial)),
      folder_(plan.directory / "trials" / id_) {}

Gang::~Gang() { *alive_ = false; }

void Gang::request() {
  const GangSize size{static_cast<std::uint32_t>(plan_.ranks), static_cast<std::uint32_t>(plan_.cpus_per_rank),
                      static_cast<std::uint32_t>(plan_.gpus_per_rank)};
  lease_request_ =
      tools_.client.lease(size, "trial " + id_,
                          [this, alive = alive_, queue = tools_.queue, client = &tools_.client](Result<Lease> granted) {
                            queue->put([this, alive, client, granted = std::move(granted)] {
                              if (!*alive) {  // taken back before it was granted
                                if (granted) client->release(granted->id);
                                return;
                              }
                              if (!granted) return tools_.tell(LeaseRefused{granted.error().message});
                              lease_ = *granted;
                              tools_.tell(GangGranted{trial_});
                            });
                          });
}

void Gang::release() {
  *alive_ = false;  // a grant that is still under way is given back by who hears of it
  kill_ranks();
  if (lease_)
    tools_.client.release(lease_->id);
  else
    tools_.client.cancel_lease(lease_request_);
  lease_.reset();
}

void Gang::launch(const Launch& launch, const std::string& parameters, std::uint64_t seed,
                  const std::vector<Checkpoint>& held) {
  generation_ = launch.generation;
  failed_ = stopping_ = programs_stopped_ = false;
  stopped_.reset();
  ranks_.clear();
  last_program_report_ = {};
  auto go_on = [this, launch, parameters, seed](const Status& ready) {
    if (stopping_) return;
    if (!ready && ready.error().code == Code::Corrupt)
      return tools_.tell(CheckpointLost{trial_, launch.generation, launch.restore, ready.error().message});
    if (!ready) return fail(0, ready.error());
    start_store([this, launch, parameters, seed] { start_ranks(launch, parameters, seed); });
  };
  auto ready = std::make_shared<Status>(Unit{});
  auto then = later([ready, go_on] { go_on(*ready); });
  tools_.filing.give([held, restore = launch.restore, ready, folder = checkpoints(), owns_names = !is_program(),
                      queue = tools_.queue, then] {
    *ready = make_ready(folder, owns_names, restore, held);
    queue->put(then);
  });
}

void Gang::start_ranks(const Launch& launch, const std::string& parameters, std::uint64_t seed) {
  if (stopping_) return;
  ranks_.assign(static_cast<std::size_t>(plan_.ranks), {});
  for (int rank = 0; rank < plan_.ranks; ++rank) {
    const std::string threads = std::to_string(std::max(1, plan_.cpus_per_rank));
    Rank& member = ranks_[static_cast<std::size_t>(rank)];
    member.actor = tools_.client.spawn({.class_name = std::string(detail::kTrialClass),
                                        .program = plan_.job.path,
                                        .program_hash = plan_.job.hash,
                                        .directory = plan_.working_folder,
                                        .log = log_of(rank),
                                        .lease = lease_->id,
                                        .bundle = static_cast<std::uint32_t>(rank),
                                        .environment = {"OMP_NUM_THREADS=" + threads, "MKL_NUM_THREADS=" + threads}});
    member.alive = true;
    tools_.own(member.actor, this);
  }
  auto waiting = std::make_shared<int>(plan_.ranks);
  for (int rank = 0; rank < plan_.ranks; ++rank)
    ask(rank, detail::kTrialSetup, setup_message(launch, parameters, seed, rank),
        [this, waiting](int, const std::string&) {
          if (--*waiting > 0) return;
          tools_.tell(RanksReady{trial_, generation_});
          if (is_program())
            for (int program = 0; program < plan_.ranks; ++program) next_program_report(program);
        });
}

std::string Gang::setup_message(const Launch& launch, const std::string& parameters, std::uint64_t seed,
                                int rank) const {
  return message<wire::TrialSetup>([&](wire::TrialSetup::Builder to) {
    to.setVersion(wire::TRIAL_VERSION);
    to.setTrainable(plan_.trainable);
    to.setTrialId(id_);
    to.setRank(static_cast<std::uint32_t>(rank));
    to.setSize(static_cast<std::uint32_t>(plan_.ranks));
    to.setGeneration(static_cast<std::uint32_t>(launch.generation));
    to.setSeed(seed);
    to.setParameters(parameters);
    to.setDirectory(folder_.string());
    if (!launch.restore.empty()) to.setRestore((checkpoints() / launch.restore).string());
    to.setStep(static_cast<std::uint64_t>(launch.restore_step));
    to.setThreads(static_cast<std::uint32_t>(std::max(1, plan_.cpus_per_rank)));
    to.setLog(log_of(rank));
    to.setPythonPath(plan_.python_path);
    to.setMaxRestarts(static_cast<std::uint32_t>(plan_.max_failures));
    if (store_port_ != 0 || plan_.ranks == 1) {
      to.setMasterAddress("127.0.0.1");
      to.setMasterPort(store_port_);
    }
    if (is_program()) {
      const auto argv = plan_.argv(Value::parse(parameters), folder_.string());
      auto list = to.initArgv(static_cast<unsigned>(argv.size()));
      for (unsigned i = 0; i < argv.size(); ++i) list.set(i, argv[i]);
    }
    const BundleView& bundle = lease_->bundles.at(static_cast<std::size_t>(rank));
    auto gpus = to.initGpus(static_cast<unsigned>(bundle.gpus.size()));
    for (unsigned i = 0; i < bundle.gpus.size(); ++i) gpus.set(i, bundle.gpus[i]);
    auto cores = to.initCpuset(static_cast<unsigned>(bundle.cores.size()));
    for (unsigned i = 0; i < bundle.cores.size(); ++i) cores.set(i, bundle.cores[i]);
  });
}

// What an answer's absence means: a throw fails the rank at once; a death is told by its notice, which knows more.
void Gang::ask(int rank, wire::MethodName method, std::string bytes, Answer answer) {
  const auto state = tools_.client.call(ranks_[static_cast<std::size_t>(rank)].actor, method, bytes);
  auto use = later([this, state, rank, answer = std::move(answer)] {
    const Result<std::string> result = state->value();
    const Code code = result ? Code{} : result.error().code;
    if (!result && (code == Code::MaybeRan || code == Code::NotSent)) return;
    const Result<std::string> own = result ? unwrap(*result) : result;
    if (!own) return fail(rank, own.error());
    answer(rank, *own);
  });
  state->then([queue = tools_.queue, use = std::move(use)] { queue->put(use); });
}

void Gang::ask_all(wire::MethodName method, const std::string& bytes,
                   std::function<void(std::vector<std::string>)> then) {
  struct Gathered {
    std::vector<std::string> answers;
    int waiting = 0;
  };
  auto gathered = std::make_shared<Gathered>(Gathered{std::vector<std::string>(ranks_.size()), plan_.ranks});
  for (int rank = 0; rank < plan_.ranks; ++rank)
    ask(rank, method, bytes, [gathered, then](int from, const std::string& answer) {
      gathered->answers[static_cast<std::size_t>(from)] = answer;
      if (--gathered->waiting == 0) then(gathered->answers);
    });
}

void Gang::step(std::int64_t step) {
  const std::string asked = message<wire::TrialStep>([&](auto to) { to.setStep(static_cast<std::uint64_t>(step)); });
  ask_all(detail::kTrialStep, asked, [this, step](std::vector<std::string> answers) {
    Report report{.trial = trial_, .generation = generation_, .step = step};
    const Status read = wire::with_message<wire::TrialReport>(answers.front(), [&](wire::TrialReport::Reader from) {
      report.metrics = metrics_of(wire::text(from.getMetrics()));
    });
    if (!read) return fail(0, in("its report of step " + std::to_string(step), read.error()));
    tools_.tell(std::move(report));
  });
}

void Gang::save(std::int64_t step, const std::string& name) {
  // A step of file work that goes wrong fails the trial: nothing of the checkpoint is in a record yet.
  auto file = [this](auto work, auto then) {
    auto result = std::make_shared<std::optional<decltype(work())>>();
    auto use = later([this, result, then] {
      if (!**result) return fail(0, in("the checkpoint could not be saved", (*result)->error()));
      then(***result);
    });
    tools_.filing.give([work, result, use, queue = tools_.queue] {
      *result = work();
      queue->put(use);
    });
  };
  file([folder = checkpoints(), name] { return prepare_checkpoint(folder, name); },
       [this, step, name, file](const std::filesystem::path& work) {
         const std::string asked = message<wire::TrialSave>([&](auto to) { to.setDirectory(work.string()); });
         ask_all(detail::kTrialSave, asked, [this, step, name, file](std::vector<std::string>) {
           file([folder = checkpoints(), name] { return publish_checkpoint(folder, name); },
                [this, step](const Checkpoint& checkpoint) {
                  tools_.tell(Saved{trial_, generation_, step, checkpoint});
                });
         });
       });
}

void Gang::fail(int rank, const Error& cause) { fail(RankDied{.rank = rank, .cause = cause.message}, cause.code); }

void Gang::fail(RankDied died, Code code) {
  if (stopping_) {  // nothing is wanted of it any more, but a program's last reports
    if (ranks_.empty() || !std::exchange(ranks_[static_cast<std::size_t>(died.rank)].reading, false))
      return kill_ranks();
    return kill_when_read();
  }
  if (std::exchange(failed_, true)) return;
  kill_ranks();
  const Status room = code == Code::NoSpace ? Status(Error{code, died.cause}) : room_in(plan_.directory);
  if (!room && room.error().code == Code::NoSpace)  // the disk's fault, not the trial's: it keeps its tries
    return tools_.give_up({Code::NoSpace, "the disk is full, make room: trial " + id_ + ": " + died.cause +
                                              (code == Code::NoSpace ? "" : "; " + room.error().message)});
  died.trial = trial_;
  died.generation = generation_;
  tools_.tell(std::move(died));
}

void Gang::kill_ranks() {
  for (const Rank& rank : ranks_)
    if (rank.alive) tools_.client.kill(rank.actor);
  if (store_ != 0) tools_.client.kill(store_);
}

void Gang::on_death(const ActorDeath& death) {
  if (!*alive_) return;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    if (ranks_[rank].actor != death.actor) continue;
    ranks_[rank].alive = false;
    tools_.own(death.actor, nullptr);
    if (!stopping_)
      fail({.rank = static_cast<int>(rank),
            .cause = death.cause,
            .log_tail = death.last_lines,
            .rt_lost = death.keeper_lost},
           Code::Unavailable);
    else
      kill_ranks();  // it won't answer a stop any more: the others needn't either
  }
  if (death.actor == store_) {
    store_ = 0;
    tools_.own(death.actor, nullptr);
    if (!stopping_)
      fail({.cause = "the process that hosts the gang's store died: " + death.cause,
            .log_tail = death.last_lines,
            .rt_lost = true},
           Code::Unavailable);
  }
  tell_stopped_when_gone();
}

void Gang::stop(int generation) {
  stopping_ = true;
  stopped_ = TrialStopped{.trial = trial_, .generation = generation};
  if (!is_program() || failed_ || ranks_.empty()) {
    kill_ranks();  // and the store, if there is one
    return tell_stopped_when_gone();
  }
  const std::string asked = message<wire::TrialStop>(
      [&](auto to) { to.setDeadlineMs(static_cast<std::uint64_t>(plan_.stop_deadline.count())); });
  ask_all(detail::kTrialStop, asked, [this](const std::vector<std::string>&) {
    programs_stopped_ = true;
    kill_when_read();
  });
}

// What rank 0's program reported before its end is told first, so that a resume goes on from where it left.
void Gang::kill_when_read() {
  if (programs_stopped_ && !ranks_.empty() && !ranks_.front().reading) kill_ranks();
}

void Gang::tell_stopped_when_gone() {
  if (!stopped_) return;
  for (const Rank& rank : ranks_)
    if (rank.alive) return;
  if (store_ != 0) return;
  ranks_.clear();
  tools_.tell(*std::exchange(stopped_, std::nullopt));
}

}  // namespace rt::tune
