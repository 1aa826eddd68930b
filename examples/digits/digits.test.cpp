#include "digits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "rt/actors/collective/gang.testing.h"
#include "rt/runtime/base/temporary_folder.h"

namespace {

using rt::train::testing::run_processes;

constexpr const char* kGood = R"({"hidden": 64, "lr": 0.2, "momentum": 0.9, "weight_decay": 1e-5, "batch": 32})";

class DigitsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(DIGITS_FOLDER "/digits.csv.gz")) GTEST_SKIP() << "scripts/setup puts the data there";
  }
  rt::TemporaryFolder folder;
};

TEST_F(DigitsTest, TwoRanksReachNinetySevenPerCentOnRowsHeldOut) {
  const auto statuses = run_processes(2, folder.path() / "store", [](rt::RankContext& context) {
    context.parameters = rt::Parameters(kGood);
    Digits digits;
    digits.setup(context);
    double best = 0;
    for (int epoch = 0; epoch < 27; ++epoch) best = std::max(best, digits.step().at("accuracy"));
    return best >= 0.97 ? 0 : 1;
  });
  EXPECT_EQ(statuses, (std::vector<int>{0, 0}));
}

TEST_F(DigitsTest, GoesOnFromACheckpointToTheBit) {
  rt::RankContext context;
  context.parameters = rt::Parameters(kGood);
  Digits undisturbed;
  undisturbed.setup(context);
  undisturbed.step();
  undisturbed.save(folder.path());
  const auto expected = undisturbed.step();

  Digits resumed;
  resumed.setup(context);
  resumed.load(folder.path());
  EXPECT_EQ(resumed.step(), expected);
}

TEST_F(DigitsTest, SaysWhereItLookedForData) {
  rt::RankContext context;
  context.parameters = rt::Parameters(R"({"lr": 0.1, "folder": "/nowhere"})");
  Digits digits;
  try {
    digits.setup(context);
    FAIL() << "there is no such folder";
  } catch (const rt::Exception& error) {
    EXPECT_EQ(error.code(), rt::Code::NotFound);
    EXPECT_NE(std::string(error.what()).find("/nowhere/digits.csv.gz"), std::string::npos) << error.what();
  }
}

}  // namespace
