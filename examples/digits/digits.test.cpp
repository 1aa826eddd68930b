#include "digits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

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

// MNIST's four files as the format's description gives them, of `rows` images in which class k is a bright stripe of
// two rows at height 2k + 4 over noise: the real ones were never on this machine.
void write_stripes(const std::filesystem::path& folder, const std::string& set, int rows) {
  const auto header = [](std::initializer_list<int> dimensions) {
    std::string bytes{'\0', '\0', '\x08', static_cast<char>(dimensions.size())};
    for (const int dimension : dimensions)
      for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(dimension >> shift & 0xFF);
    return bytes;
  };
  std::string images = header({rows, 28, 28}), labels = header({rows});
  std::uint32_t noise = 1;
  for (int row = 0; row < rows; ++row) {
    const int label = row % 10;
    labels += static_cast<char>(label);
    for (int pixel = 0; pixel < 28 * 28; ++pixel) {
      noise = noise * 1664525 + 1013904223;
      const bool is_stripe = pixel / 28 / 2 == label + 2;
      images += static_cast<char>((noise >> 25) + (is_stripe ? 100 : 0));
    }
  }
  std::ofstream(folder / (set + "-images-idx3-ubyte"), std::ios::binary) << images;
  std::ofstream(folder / (set + "-labels-idx1-ubyte"), std::ios::binary) << labels;
}

TEST(Mnist, TrainsTheLessonsModelOnAFolderOfIdxFiles) {
  const rt::TemporaryFolder folder;
  write_stripes(folder.path(), "train", 640);
  write_stripes(folder.path(), "t10k", 100);
  rt::RankContext context;
  context.parameters = rt::Parameters(R"({"data": "mnist", "folder": ")" + folder.path().string() + "\"}");
  Digits digits;
  digits.setup(context);
  EXPECT_LT(digits.step().at("loss"), 2.3);  // ln 10: what knowing nothing costs
  digits.step();
  EXPECT_EQ(digits.step().at("accuracy"), 1.0);

  const auto saved = folder.path() / "saved";
  std::filesystem::create_directory(saved);
  digits.save(saved);
  std::uintmax_t bytes = 0;
  for (const auto& file : std::filesystem::directory_iterator(saved)) bytes += file.file_size();
  constexpr std::uintmax_t kParameters = 784 * 512 + 512 + 512 * 10 + 10, kWithAdamsMoments = 3 * kParameters;
  EXPECT_NEAR(static_cast<double>(bytes), kWithAdamsMoments * sizeof(float), 40'000);
}

}  // namespace
