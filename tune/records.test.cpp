#include "rt/tune/records.h"

#include <capnp/message.h>
#include <capnp/serialize-packed.h>
#include <gtest/gtest.h>
#include <kj/io.h>

#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "rt/runtime/wire/tune.capnp.h"

namespace rt::tune {
namespace {

Checkpoint checkpoint() { return {"step-00000009", {{"model.pt", 1 << 20, 0xe3069283}, {"rank-1.pt", 0, 0}}}; }

std::vector<Record> one_of_each_kind() {
  return {SweepStarted{"method: grid\n", "/tmp/sweep.yaml", 7, "/usr/bin/digits", "ab12", 1700000000123},
          Resumed{"run-2", 3, 1700000001000},
          TrialCreated{4, "0005", R"({"lr":0.1})", ~std::uint64_t{0}},
          GenerationStarted{4, 2, "step-00000009", 9},
          Reported{4, 2, 10, {{"loss", 0.25}, {"accuracy", 0.978}}, checkpoint(), Verdict::Target, 12.5},
          Reported{4, 2, 11, {}, std::nullopt, Verdict::Continue, 0},
          Checkpointed{4, 2, 10, checkpoint()},
          RankFailed{4, 2, 1, "signal 11 (Segmentation fault)", "line 1\nline 2\n", true},
          RankFailed{.trial = 4, .generation = 3, .cause = "fork server lost", .uncharged = true},
          TrialEnded{4, EndReason::GivenUp},
          CheckpointDropped{4, "step-00000003"},
          CheckpointDropped{4, "step-00000004", "its file rank-0.pt is damaged"},
          Interrupted{"stopped by the user"},
          SweepEnded{4, ""},
          SweepEnded{std::nullopt, "why"}};
}

TEST(Records, OfEveryKindComeBackFromTheirBytes) {
  std::set<std::size_t> kinds;
  for (const Record& record : one_of_each_kind()) {
    const auto decoded = decode(encode(record));
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(*decoded, record) << describe(record);
    kinds.insert(record.index());
  }
  EXPECT_EQ(kinds.size(), std::variant_size_v<Record>);
}

TEST(Records, KeepNanInfinityAndTheLastBitOfAMetric) {
  const double almost = std::nextafter(0.1, 1);
  const Reported report{
      .metrics = {{"a", std::nan("")}, {"b", -std::numeric_limits<double>::infinity()}, {"c", almost}}};
  const auto decoded = std::get<Reported>(*decode(encode(report)));
  EXPECT_TRUE(std::isnan(decoded.metrics.at("a")));
  EXPECT_EQ(decoded.metrics.at("b"), report.metrics.at("b"));
  EXPECT_EQ(decoded.metrics.at("c"), almost);
}

TEST(Records, CutOffAreCorrupt) {
  for (const Record& record : one_of_each_kind()) {
    const std::string bytes = encode(record);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const auto decoded = decode(std::string_view(bytes).substr(0, size));
      ASSERT_FALSE(decoded) << describe(record) << " cut to " << size;
      EXPECT_EQ(decoded.error().code, Code::Corrupt) << decoded.error().message;
    }
    EXPECT_FALSE(decode(bytes + bytes));
  }
}

TEST(Records, DamagedInAnyByteGiveARecordOrAnErrorAndNeverMore) {
  std::mt19937 random(1);
  for (const Record& record : one_of_each_kind()) {
    for (int i = 0; i < 2000; ++i) {
      std::string bytes = encode(record);
      bytes[random() % bytes.size()] = static_cast<char>(random());
      const auto decoded = decode(bytes);
      EXPECT_TRUE(decoded || !decoded.error().message.empty());
    }
  }
}

std::string bytes_of(capnp::MessageBuilder& message) {
  kj::VectorOutputStream out;
  capnp::writePackedMessage(out, message);
  return {out.getArray().asChars().begin(), out.getArray().size()};
}

TEST(Records, OfANewerFormatAreRefusedNamingBoth) {
  capnp::MallocMessageBuilder message;
  message.initRoot<wire::TuneRecord>().setFormat(wire::TUNE_FORMAT + 6);
  const auto decoded = decode(bytes_of(message));
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code, Code::Refused);
  EXPECT_EQ(decoded.error().message,
            "the journal is of format 7, this program reads up to 1: a newer rt wrote it; use that one");
}

TEST(Records, OfAnUnknownKindAreRefusedNamingTheVersions) {
  capnp::MallocMessageBuilder message;
  auto root = message.initRoot<wire::TuneRecord>();
  root.setFormat(wire::TUNE_FORMAT);
  root.initInterrupted();
  capnp::toAny(root).getDataSection()[4] = 99;  // the union's tag follows the format number
  ASSERT_EQ(static_cast<int>(root.which()), 99);

  const auto decoded = decode(bytes_of(message));
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code, Code::Refused);
  EXPECT_EQ(decoded.error().message,
            "the journal holds a record of kind 99 in format 1, which this program (format 1) doesn't know: a newer rt "
            "wrote it; use that one");
}

TEST(Records, SayWhatTheyAre) {
  EXPECT_EQ(describe(TrialEnded{.trial = 3}), "TrialEnded of trial 0004");
  EXPECT_EQ(describe(Interrupted{}), "Interrupted");
  EXPECT_EQ(trial_id(0), "0001");
  EXPECT_EQ(trial_id(12344), "12345");
}

}  // namespace
}  // namespace rt::tune
