#include "rt/actors/trial_rank.h"

#include <unistd.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <system_error>

#include "rt/actors/client.h"
#include "rt/actors/method_table.h"
#include "rt/actors/worker_context.h"
#include "rt/runtime/base/crash_point.h"
#include "rt/runtime/wire/message.h"
#include "rt/runtime/wire/trial.capnp.h"

namespace rt::detail {
namespace {

template <class T, class Use>
void read(const std::string& bytes, Use&& use) {
  const Status done = wire::with_message<T>(bytes, use);
  if (!done) throw Exception(done.error());
}

template <class T, class Fill>
std::string write(Fill&& fill) {
  capnp::MallocMessageBuilder builder;
  fill(builder.initRoot<T>());
  return wire::to_bytes(builder);
}

// JSON has no nan and infinities: they travel as text.
std::string metrics_json(const Metrics& metrics) {
  nlohmann::json json = nlohmann::json::object();
  for (const auto& [name, value] : metrics) {
    if (std::isfinite(value))
      json[name] = value;
    else
      json[name] = std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  }
  return json.dump();
}

RankContext context_of(wire::TrialSetup::Reader setup) {
  RankContext context{.trial_id = wire::text(setup.getTrialId()),
                      .rank = static_cast<int>(setup.getRank()),
                      .size = static_cast<int>(setup.getSize()),
                      .generation = static_cast<int>(setup.getGeneration()),
                      .seed = setup.getSeed(),
                      .threads = static_cast<int>(setup.getThreads()),
                      .parameters = Parameters(wire::text(setup.getParameters())),
                      .directory = wire::text(setup.getDirectory()),
                      .store = &worker_context().client->keys()};
  for (const auto gpu : setup.getGpus()) context.gpus.push_back(wire::text(gpu));
  for (const auto core : setup.getCpuset())
    if (core >= 0) context.cpuset.push_back(core);
  // A GPU that the user made up trains on the CPU.
  const bool real = !context.gpus.empty() && context.gpus.front().rfind("simulated-", 0) != 0;
  context.device = real ? DeviceKind::Gpu : DeviceKind::Cpu;
  return context;
}

ProgramStart program_of(wire::TrialSetup::Reader setup) {
  ProgramStart start{.directory = wire::text(setup.getDirectory()),
                     .log = wire::text(setup.getLog()),
                     .python_path = wire::text(setup.getPythonPath()),
                     .trial_id = wire::text(setup.getTrialId()),
                     .parameters = wire::text(setup.getParameters()),
                     .generation = static_cast<int>(setup.getGeneration()),
                     .max_restarts = static_cast<int>(setup.getMaxRestarts()),
                     .restore = wire::text(setup.getRestore()),
                     .step = setup.getStep(),
                     .rank = static_cast<int>(setup.getRank()),
                     .size = static_cast<int>(setup.getSize()),
                     .threads = static_cast<int>(setup.getThreads()),
                     .master_addr = wire::text(setup.getMasterAddress()),
                     .master_port = setup.getMasterPort()};
  for (const auto argument : setup.getArgv()) start.argv.push_back(wire::text(argument));
  for (const auto entry : setup.getEnvironment()) start.environment.push_back(wire::text(entry));
  return start;
}

std::unique_ptr<AnyTrainable> find_trainable(const std::string& name) {
  if (auto trainable = make_trainable(name)) return trainable;
  std::string known;
  for (const std::string& other : trainable_names()) known += (known.empty() ? "" : ", ") + other;
  throw Exception(
      {Code::NotFound, "this program has no trainable '" + name + "'; it has: " +
                           (known.empty() ? "none (RT_TRAINABLE(Class) in one of its sources makes one)" : known)});
}

}  // namespace

AnyTrainable& TrialRank::trainable(const char* asked) {
  if (!trainable_)
    throw Exception(
        {Code::Invalid, std::string(asked) + " was asked of a rank that has no trainable; call setup first"});
  return *trainable_;
}

std::shared_ptr<ProgramRank> TrialRank::program() {
  const std::lock_guard lock(mutex_);
  return program_;
}

std::string TrialRank::setup(const std::string& trial_setup) {
  read<wire::TrialSetup>(trial_setup, [&](wire::TrialSetup::Reader setup) {
    if (setup.getVersion() != wire::TRIAL_VERSION)
      throw Exception({Code::Refused, "rtctl speaks version " + std::to_string(setup.getVersion()) +
                                          " of a trial's interface, this program " +
                                          std::to_string(static_cast<std::uint32_t>(wire::TRIAL_VERSION)) +
                                          "; build both from one rt"});
    const std::string name = wire::text(setup.getTrainable());
    if (name.empty()) {
      const auto program = std::make_shared<ProgramRank>();
      program->start(program_of(setup)).get();
      const std::lock_guard lock(mutex_);
      program_ = program;
      return;
    }
    context_ = context_of(setup);
    trainable_ = find_trainable(name);
    trainable_->setup(context_);
    if (setup.getRestore().size() > 0) trainable_->load(wire::text(setup.getRestore()));
  });
  return write<wire::TrialReady>([](auto ready) { ready.setPid(static_cast<std::uint32_t>(::getpid())); });
}

std::string TrialRank::step(const std::string& trial_step) {
  if (const auto running = program()) {
    const ProgramReport report = running->next_report().get();
    return write<wire::TrialReport>([&](wire::TrialReport::Builder to) {
      to.setStep(report.step);
      to.setMetrics(metrics_json(report.metrics));
      to.setFinished(report.finished);
      to.setCheckpoint(report.checkpoint.string());
    });
  }
  RT_CRASH_POINT("rank.step.before");
  const Metrics metrics = trainable("step").step();
  RT_CRASH_POINT("rank.step.after");
  return write<wire::TrialReport>([&](wire::TrialReport::Builder to) {
    read<wire::TrialStep>(trial_step, [&](wire::TrialStep::Reader asked) { to.setStep(asked.getStep()); });
    to.setMetrics(metrics_json(metrics));
  });
}

std::string TrialRank::save(const std::string& trial_save) {
  read<wire::TrialSave>(trial_save, [&](wire::TrialSave::Reader save) {
    RT_CRASH_POINT("rank.save.before");
    trainable("save").save(wire::text(save.getDirectory()));
    RT_CRASH_POINT("rank.save.after");
  });
  return write<wire::TrialSaved>([](auto) {});
}

std::string TrialRank::stop(const std::string& trial_stop) {
  if (const auto running = program())
    read<wire::TrialStop>(trial_stop, [&](wire::TrialStop::Reader stop) {
      running->stop({.save = std::chrono::milliseconds(stop.getDeadlineMs())}).get();
    });
  return write<wire::TrialStopped>([](auto) {});
}

namespace {

// A full disk is told as such: the tuner must not take it for the trial's failure. rt's own files say it by an
// Exception, a user's code perhaps by std::filesystem's or another error with errno's number.
template <class Work>
std::string answer(Work&& work) {
  std::string full;
  try {
    const std::string bytes = work();
    return write<wire::TrialAnswer>([&](wire::TrialAnswer::Builder to) { to.setDone(wire::as_data(bytes)); });
  } catch (const Exception& error) {
    if (error.code() != Code::NoSpace) throw;
    full = error.what();
  } catch (const std::system_error& error) {
    const int number = error.code().default_error_condition().value();
    if (system_error("", number).code != Code::NoSpace) throw;
    full = error.what();
  }
  return write<wire::TrialAnswer>([&](wire::TrialAnswer::Builder to) { to.setNoSpace(full); });
}

// Arguments and results are the schema's bytes as they are.
template <std::string (TrialRank::*M)(const std::string&)>
void invoke(void* object, Decoder& from, Encoder& to) {
  const std::string asked(from.bytes(from.left()));
  const std::string result = answer([&] { return (static_cast<TrialRank*>(object)->*M)(asked); });
  to.raw(result.data(), result.size());
}

}  // namespace

bool register_trial_rank() {
  return register_class(kTrialClass,
                        {.construct = [](Decoder&) -> AnyObject { return std::make_shared<TrialRank>(); }}) &&
         register_method(kTrialSetup, {.invoke = &invoke<&TrialRank::setup>}) &&
         register_method(kTrialStep, {.invoke = &invoke<&TrialRank::step>}) &&
         register_method(kTrialSave, {.invoke = &invoke<&TrialRank::save>}) &&
         register_method(kTrialStop, {.invoke = &invoke<&TrialRank::stop>});
}

}  // namespace rt::detail
