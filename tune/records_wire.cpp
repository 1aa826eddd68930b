// Records to bytes and back: the mapping to runtime/wire/tune.capnp, field by field.
#include <capnp/message.h>
#include <capnp/serialize-packed.h>
#include <fmt/format.h>
#include <kj/io.h>

#include "rt/runtime/wire/tune.capnp.h"
#include "rt/tune/records.h"

namespace rt::tune {
namespace {

kj::StringPtr text(const std::string& s) { return {s.c_str(), s.size()}; }
std::string text(capnp::Text::Reader reader) { return {reader.cStr(), reader.size()}; }

// C++ and wire enumerations list the same things in the same order.
static_assert(static_cast<int>(Verdict::Target) == static_cast<int>(wire::TuneVerdict::TARGET));
static_assert(static_cast<int>(EndReason::GivenUp) == static_cast<int>(wire::TuneEnd::GIVEN_UP));

template <class To, class From>
Result<To> checked_enum(From value, To last) {
  if (static_cast<int>(value) > static_cast<int>(last)) {
    return Error{Code::Refused,
                 fmt::format("the journal holds the value {} where this program (journal format {}) knows "
                             "up to {}: a newer rt wrote it; use that one",
                             static_cast<int>(value), wire::TUNE_FORMAT, static_cast<int>(last))};
  }
  return static_cast<To>(value);
}

void write(const Checkpoint& from, wire::Checkpoint::Builder to) {
  to.setName(text(from.name));
  auto files = to.initFiles(from.files.size());
  for (unsigned i = 0; i < files.size(); ++i) {
    files[i].setName(text(from.files[i].name));
    files[i].setSize(from.files[i].size);
    files[i].setCrc32c(from.files[i].crc32c);
  }
}

Checkpoint read(wire::Checkpoint::Reader from) {
  Checkpoint to{.name = text(from.getName())};
  for (auto file : from.getFiles()) to.files.push_back({text(file.getName()), file.getSize(), file.getCrc32c()});
  return to;
}

void write(const SweepStarted& from, wire::TuneRecord::Builder record) {
  auto to = record.initSweepStarted();
  to.setText(text(from.text));
  to.setPath(text(from.path));
  to.setSeed(from.seed);
  to.setProgram(text(from.program));
  to.setProgramHash(text(from.program_hash));
  to.setTimeMs(from.time_ms);
}

Result<Record> read(wire::SweepStarted::Reader from) {
  return Record{SweepStarted{.text = text(from.getText()),
                             .path = text(from.getPath()),
                             .seed = from.getSeed(),
                             .program = text(from.getProgram()),
                             .program_hash = text(from.getProgramHash()),
                             .time_ms = from.getTimeMs()}};
}

void write(const Resumed& from, wire::TuneRecord::Builder record) {
  auto to = record.initResumed();
  to.setRunId(text(from.run_id));
  to.setTerm(from.term);
  to.setTimeMs(from.time_ms);
}

Result<Record> read(wire::Resumed::Reader from) {
  return Record{Resumed{.run_id = text(from.getRunId()), .term = from.getTerm(), .time_ms = from.getTimeMs()}};
}

void write(const TrialCreated& from, wire::TuneRecord::Builder record) {
  auto to = record.initTrialCreated();
  to.setTrial(from.trial);
  to.setId(text(from.id));
  to.setParameters(text(from.parameters));
  to.setSeed(from.seed);
}

Result<Record> read(wire::TrialCreated::Reader from) {
  return Record{TrialCreated{.trial = static_cast<TrialIndex>(from.getTrial()),
                             .id = text(from.getId()),
                             .parameters = text(from.getParameters()),
                             .seed = from.getSeed()}};
}

void write(const GenerationStarted& from, wire::TuneRecord::Builder record) {
  auto to = record.initGenerationStarted();
  to.setTrial(from.trial);
  to.setGeneration(from.generation);
  to.setRestore(text(from.restore));
  to.setRestoreStep(from.restore_step);
}

Result<Record> read(wire::GenerationStarted::Reader from) {
  return Record{GenerationStarted{.trial = static_cast<TrialIndex>(from.getTrial()),
                                  .generation = static_cast<int>(from.getGeneration()),
                                  .restore = text(from.getRestore()),
                                  .restore_step = static_cast<std::int64_t>(from.getRestoreStep())}};
}

void write(const Reported& from, wire::TuneRecord::Builder record) {
  auto to = record.initReported();
  to.setTrial(from.trial);
  to.setGeneration(from.generation);
  to.setStep(from.step);
  auto metrics = to.initMetrics(from.metrics.size());
  unsigned next = 0;
  for (const auto& [name, value] : from.metrics) {
    metrics[next].setName(text(name));
    metrics[next++].setValue(value);
  }
  if (from.checkpoint) write(*from.checkpoint, to.initCheckpoint());
  to.setVerdict(static_cast<wire::TuneVerdict>(from.verdict));
  to.setSeconds(from.seconds);
}

Result<Record> read(wire::Reported::Reader from) {
  RT_TRY(verdict, checked_enum(from.getVerdict(), Verdict::Target));
  Reported to{.trial = static_cast<TrialIndex>(from.getTrial()),
              .generation = static_cast<int>(from.getGeneration()),
              .step = static_cast<std::int64_t>(from.getStep()),
              .verdict = verdict,
              .seconds = from.getSeconds()};
  for (auto metric : from.getMetrics()) to.metrics.emplace(text(metric.getName()), metric.getValue());
  if (from.hasCheckpoint()) to.checkpoint = read(from.getCheckpoint());
  return Record{std::move(to)};
}

void write(const Checkpointed& from, wire::TuneRecord::Builder record) {
  auto to = record.initCheckpointed();
  to.setTrial(from.trial);
  to.setGeneration(from.generation);
  to.setStep(from.step);
  write(from.checkpoint, to.initCheckpoint());
}

Result<Record> read(wire::Checkpointed::Reader from) {
  return Record{Checkpointed{.trial = static_cast<TrialIndex>(from.getTrial()),
                             .generation = static_cast<int>(from.getGeneration()),
                             .step = static_cast<std::int64_t>(from.getStep()),
                             .checkpoint = read(from.getCheckpoint())}};
}

void write(const RankFailed& from, wire::TuneRecord::Builder record) {
  auto to = record.initRankFailed();
  to.setTrial(from.trial);
  to.setGeneration(from.generation);
  to.setRank(from.rank);
  to.setCause(text(from.cause));
  to.setLogTail(text(from.log_tail));
  to.setFinal(from.final);
  to.setUncharged(from.uncharged);
}

Result<Record> read(wire::RankFailed::Reader from) {
  return Record{RankFailed{.trial = static_cast<TrialIndex>(from.getTrial()),
                           .generation = static_cast<int>(from.getGeneration()),
                           .rank = static_cast<int>(from.getRank()),
                           .cause = text(from.getCause()),
                           .log_tail = text(from.getLogTail()),
                           .final = from.getFinal(),
                           .uncharged = from.getUncharged()}};
}

void write(const TrialEnded& from, wire::TuneRecord::Builder record) {
  auto to = record.initTrialEnded();
  to.setTrial(from.trial);
  to.setReason(static_cast<wire::TuneEnd>(from.reason));
}

Result<Record> read(wire::TrialEnded::Reader from) {
  RT_TRY(reason, checked_enum(from.getReason(), EndReason::GivenUp));
  return Record{TrialEnded{.trial = static_cast<TrialIndex>(from.getTrial()), .reason = reason}};
}

void write(const CheckpointDropped& from, wire::TuneRecord::Builder record) {
  auto to = record.initCheckpointDropped();
  to.setTrial(from.trial);
  to.setName(text(from.name));
  to.setCause(text(from.cause));
}

Result<Record> read(wire::CheckpointDropped::Reader from) {
  return Record{CheckpointDropped{
      .trial = static_cast<TrialIndex>(from.getTrial()), .name = text(from.getName()), .cause = text(from.getCause())}};
}

void write(const Interrupted& from, wire::TuneRecord::Builder record) {
  record.initInterrupted().setCause(text(from.cause));
}

Result<Record> read(wire::Interrupted::Reader from) { return Record{Interrupted{.cause = text(from.getCause())}}; }

void write(const SweepEnded& from, wire::TuneRecord::Builder record) {
  auto to = record.initSweepEnded();
  to.setHasBest(from.best.has_value());
  to.setBest(from.best.value_or(0));
  to.setCause(text(from.cause));
}

Result<Record> read(wire::SweepEnded::Reader from) {
  SweepEnded to{.cause = text(from.getCause())};
  if (from.getHasBest()) to.best = static_cast<TrialIndex>(from.getBest());
  return Record{std::move(to)};
}

Result<Record> read(wire::TuneRecord::Reader record) {
  using Kind = wire::TuneRecord::Which;
  switch (record.which()) {
    case Kind::SWEEP_STARTED: return read(record.getSweepStarted());
    case Kind::RESUMED: return read(record.getResumed());
    case Kind::TRIAL_CREATED: return read(record.getTrialCreated());
    case Kind::GENERATION_STARTED: return read(record.getGenerationStarted());
    case Kind::REPORTED: return read(record.getReported());
    case Kind::CHECKPOINTED: return read(record.getCheckpointed());
    case Kind::RANK_FAILED: return read(record.getRankFailed());
    case Kind::TRIAL_ENDED: return read(record.getTrialEnded());
    case Kind::CHECKPOINT_DROPPED: return read(record.getCheckpointDropped());
    case Kind::INTERRUPTED: return read(record.getInterrupted());
    case Kind::SWEEP_ENDED: return read(record.getSweepEnded());
  }
  return Error{Code::Refused,
               fmt::format("the journal holds a record of kind {} in format {}, which this program (format "
                           "{}) doesn't know: a newer rt wrote it; use that one",
                           static_cast<int>(record.which()), record.getFormat(), wire::TUNE_FORMAT)};
}

Error damaged(std::size_t size, const std::string& why) {
  return {Code::Corrupt, fmt::format("{} bytes of the journal are no record of a sweep: {}", size, why)};
}

}  // namespace

std::string encode(const Record& record) {
  capnp::MallocMessageBuilder message;
  auto root = message.initRoot<wire::TuneRecord>();
  root.setFormat(wire::TUNE_FORMAT);
  std::visit([&](const auto& fields) { write(fields, root); }, record);
  kj::VectorOutputStream out;
  capnp::writePackedMessage(out, message);
  const auto bytes = out.getArray().asChars();
  return {bytes.begin(), bytes.size()};
}

Result<Record> decode(std::string_view bytes) {
  try {
    kj::ArrayInputStream in({reinterpret_cast<const kj::byte*>(bytes.data()), bytes.size()});
    capnp::PackedMessageReader message(in);
    auto root = message.getRoot<wire::TuneRecord>();
    if (root.getFormat() == 0) return damaged(bytes.size(), "it has no format number");
    if (root.getFormat() > wire::TUNE_FORMAT) {
      return Error{Code::Refused,
                   fmt::format("the journal is of format {}, this program reads up to {}: a newer rt wrote "
                               "it; use that one",
                               root.getFormat(), wire::TUNE_FORMAT)};
    }
    auto record = read(root);
    if (record && in.tryGetReadBuffer().size() != 0) return damaged(bytes.size(), "something follows it");
    return record;
  } catch (const kj::Exception& e) {
    return damaged(bytes.size(), e.getDescription().cStr());
  }
}

}  // namespace rt::tune
