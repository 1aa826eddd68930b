#include "rt/tune/filing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "rt/actors/testing/temp_folder.h"
#include "rt/runtime/base/checksum.h"
#include "rt/tune/metrics_text.h"

namespace rt::tune {
namespace {

namespace fs = std::filesystem;
using ::rt::testing::TempFolder;
using ::testing::HasSubstr;

class Filing : public ::testing::Test {
 protected:
  void write(const fs::path& file, const std::string& bytes) {
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << bytes;
  }
  // A checkpoint of two files, one in a folder below, published.
  Checkpoint save(const std::string& name) {
    const auto work = prepare_checkpoint(folder, name);
    EXPECT_TRUE(work) << work.error().message;
    write(*work / "rank-0" / "model.pt", "123456789");
    write(*work / "notes", "");
    auto saved = publish_checkpoint(folder, name);
    EXPECT_TRUE(saved) << saved.error().message;
    return *saved;
  }
  const TempFolder temp;
  const fs::path folder = temp / "checkpoints";
};

// The checksum of "123456789" is the check value of CRC-32C in RFC 3720's catalogue of CRCs.
TEST_F(Filing, PublishesWhatTheRanksWroteUnderItsFinalName) {
  const Checkpoint saved = save("step-5");
  EXPECT_EQ(saved, (Checkpoint{.name = "step-5", .files = {{"notes", 0, 0}, {"rank-0/model.pt", 9, 0xE3069283}}}));
  EXPECT_TRUE(fs::exists(folder / "step-5" / "rank-0" / "model.pt"));
  EXPECT_FALSE(fs::exists(folder / "step-5.tmp"));
  EXPECT_TRUE(verify_checkpoint(folder, saved));
}

TEST_F(Filing, IsNotThereUnderItsNameBeforeItIsWhole) {
  const auto work = prepare_checkpoint(folder, "step-5");
  ASSERT_TRUE(work);
  write(*work / "model.pt", "half");
  EXPECT_FALSE(fs::exists(folder / "step-5"));
  EXPECT_EQ(describe_checkpoint(folder, "step-5").error().code, Code::NotFound);
}

TEST_F(Filing, DescribesNoLinkAndNothingBehindOne) {
  write(folder / "mine" / "model.pt", "123456789");
  write(temp / "outside" / "secret", "not of the checkpoint");
  fs::create_symlink(temp / "outside" / "secret", folder / "mine" / "a-link");
  fs::create_directory_symlink(temp / "outside", folder / "mine" / "a-folder");
  fs::create_symlink("nowhere", folder / "mine" / "dangling");
  fs::create_directory_symlink(folder / "mine", folder / "other-name");
  EXPECT_EQ(describe_checkpoint(folder, "mine").get(),
            (Checkpoint{.name = "mine", .files = {{"model.pt", 9, 0xE3069283}}}));
  EXPECT_EQ(describe_checkpoint(folder, "other-name").error().code, Code::NotFound);
}

// Whatever moment is hit: a description is that of one state of the file, or says that there was none to describe.
TEST_F(Filing, DescribesAFileThatIsReplacedOverAndOverAsOneOfItsStates) {
  const std::string bytes[] = {"123456789", std::string(100'000, 'x')};
  const SavedFile states[] = {{"n", bytes[0].size(), checksum(bytes[0])}, {"n", bytes[1].size(), checksum(bytes[1])}};
  write(folder / "last" / "n", bytes[0]);
  std::atomic<bool> over = false;
  std::thread program([&] {
    for (int i = 0; !over; ++i) {
      write(temp / "n.tmp", bytes[i % 2]);
      fs::rename(temp / "n.tmp", folder / "last" / "n");
      write(folder / "last" / "passing", "");
      fs::remove(folder / "last" / "passing");
    }
  });
  for (int i = 0; i < 300; ++i) {
    const auto described = describe_checkpoint(folder, "last");
    if (described)
      EXPECT_THAT(described->files, ::testing::Contains(::testing::AnyOf(states[0], states[1])));
    else
      EXPECT_EQ(described.error().code, Code::Unavailable) << described.error().message;
  }
  over = true;
  program.join();
}

TEST_F(Filing, ReplacesWhatAnEarlierTryLeft) {
  write(folder / "step-5.tmp" / "half", "a rank died here");
  write(folder / "step-5" / "unnamed", "renamed, but in no record");
  const Checkpoint saved = save("step-5");
  EXPECT_EQ(saved.files.size(), 2);
  EXPECT_FALSE(fs::exists(folder / "step-5" / "unnamed"));
}

TEST_F(Filing, RefusesToPublishWhatWasNotPrepared) {
  EXPECT_EQ(publish_checkpoint(folder, "step-5").error().code, Code::NotFound);
}

struct Damage {
  const char* name;
  void (*do_it)(const fs::path& file);
  const char* said;
};

class FilingDamage : public Filing, public ::testing::WithParamInterface<Damage> {};

TEST_P(FilingDamage, IsFoundAndTheFileNamed) {
  const Checkpoint saved = save("step-5");
  GetParam().do_it(folder / "step-5" / "rank-0" / "model.pt");
  const Status verified = verify_checkpoint(folder, saved);
  ASSERT_FALSE(verified);
  EXPECT_EQ(verified.error().code, Code::Corrupt);
  EXPECT_THAT(verified.error().message, HasSubstr((folder / "step-5").string()));
  EXPECT_THAT(verified.error().message, HasSubstr(GetParam().said));
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, FilingDamage,
    ::testing::Values(
        Damage{"Short", [](const fs::path& file) { fs::resize_file(file, 4); }, "has 4 bytes, it was saved with 9"},
        Damage{"Changed", [](const fs::path& file) { std::ofstream(file) << "123456780"; },
               "its checksum isn't the saved one"},
        Damage{"MissingFile", [](const fs::path& file) { fs::remove(file); }, "model.pt can't be read"},
        Damage{"MissingFolder", [](const fs::path& file) { fs::remove_all(file.parent_path().parent_path()); },
               "is missing"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_F(Filing, DropsOneAndLeavesTheOthers) {
  const Checkpoint other = save("step-6");
  save("step-5");
  EXPECT_TRUE(drop_checkpoint(folder, "step-5"));
  EXPECT_FALSE(fs::exists(folder / "step-5"));
  EXPECT_TRUE(drop_checkpoint(folder, "step-5")) << "one that isn't there is fine";
  EXPECT_TRUE(verify_checkpoint(folder, other));
}

TEST(MetricsText, TakesNumbersAndTheThreeWordsForWhatJsonLacks) {
  const Metrics metrics =
      metrics_of(R"({"loss": 0.5, "step": 3, "bad": "nan", "up": "inf", "down": "-inf", "name": "x", "on": true})");
  EXPECT_EQ(metrics.size(), 5);
  EXPECT_EQ(metrics.at("loss"), 0.5);
  EXPECT_EQ(metrics.at("step"), 3);
  EXPECT_TRUE(std::isnan(metrics.at("bad")));
  EXPECT_EQ(metrics.at("up"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(metrics.at("down"), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(metrics_of("no json").empty());
  EXPECT_TRUE(metrics_of("[1]").empty());
}

}  // namespace
}  // namespace rt::tune
