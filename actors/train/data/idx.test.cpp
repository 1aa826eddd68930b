#include "rt/actors/train/data/idx.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "rt/actors/testing/temp_folder.h"

namespace rt::train {
namespace {

using rt::testing::TempFolder;
using Dimensions = std::vector<std::uint32_t>;

// An IDX file by the letter of its description, written by this test.
std::string idx(const Dimensions& dimensions, const std::string& values, char type = 0x08) {
  std::string bytes{'\0', '\0', type, static_cast<char>(dimensions.size())};
  for (const std::uint32_t dimension : dimensions)
    for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(dimension >> shift & 0xFF);
  return bytes + values;
}

void pack(const std::filesystem::path& file, const std::string& bytes) {
  gzFile out = gzopen(file.c_str(), "wb");
  gzwrite(out, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(out);
}

const std::string kImages = idx({2, 2, 3}, std::string("\x00\xFF\x01\x02\x03\x04\x10\x20\x30\x40\x50\x60", 12));
const std::string kLabels = idx({2}, "\x07\x09");

TEST(ReadIdx, ReadsBigEndianDimensionsAndScalesPixels) {
  const TempFolder folder;
  const auto data = read_idx(folder.write("images", kImages), folder.write("labels", kLabels));
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(data->rows, 2);
  EXPECT_EQ(data->columns, 6);
  EXPECT_EQ(data->classes, 10);
  EXPECT_EQ(data->labels, (std::vector<std::int64_t>{7, 9}));
  EXPECT_EQ(data->features.size(), 12);
  EXPECT_EQ(data->features[0], 0.0F);
  EXPECT_EQ(data->features[1], 1.0F);
  EXPECT_EQ(data->features[11], 96.0F / 255.0F);
}

TEST(ReadIdx, CountsRowsBeyondOneByte) {
  const TempFolder folder;
  const auto data = read_idx(folder.write("images", idx({1000, 1, 1}, std::string(1000, '\5'))),
                             folder.write("labels", idx({1000}, std::string(1000, '\3'))));
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(data->rows, 1000);
}

struct IdxDamage {
  const char* name;
  std::string images;
  std::string labels;
  const char* says;
  friend std::ostream& operator<<(std::ostream& out, const IdxDamage& value) { return out << value.name; }
};

class ReadIdxRefuses : public ::testing::TestWithParam<IdxDamage> {};

TEST_P(ReadIdxRefuses, AndNamesTheFileAndWhatItSaw) {
  const TempFolder folder;
  const auto data = read_idx(folder.write("images", GetParam().images), folder.write("labels", GetParam().labels));
  ASSERT_FALSE(data);
  EXPECT_EQ(data.error().code, Code::Corrupt);
  const std::string wanted = folder.path().string() + "/" + GetParam().says;
  EXPECT_NE(data.error().message.find(wanted), std::string::npos) << data.error().message;
}

// A header that claims more than 10^12 values of a file that holds 12 must fail without their memory.
INSTANTIATE_TEST_SUITE_P(
    Damages, ReadIdxRefuses,
    ::testing::Values(
        IdxDamage{"Empty", "", kLabels, "images: has 0 bytes"},
        IdxDamage{"NotIdx", "P5 28 28 255", kLabels, "images: is no IDX file"},
        IdxDamage{"Floats", idx({2, 2, 3}, "x", 0x0D), kLabels, "images: holds values of type 13, wanted 8"},
        IdxDamage{"Swapped", kLabels, kImages, "images: has 1 dimensions, wanted 3 (images)"},
        IdxDamage{"LabelsOfThree", kImages, kImages, "labels: has 3 dimensions, wanted 1 (labels)"},
        IdxDamage{"HalfHeader", kImages.substr(0, 10), kLabels, "images: ends inside its header"},
        IdxDamage{"NoRows", idx({0, 2, 3}, ""), idx({0}, ""), "images: dimension 1 is 0"},
        IdxDamage{"Short", kImages.substr(0, kImages.size() - 1), kLabels, "images: claims 12 values and holds 11"},
        IdxDamage{"Long", kImages + "x", kLabels, "images: claims 12 values and holds more"},
        IdxDamage{"Huge", idx({1'000'000, 1000, 1000}, "x"), kLabels, "images: claims over 1073741824 values"},
        IdxDamage{"Overflow", idx({0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF}, "x"), kLabels, "images: claims over"},
        IdxDamage{"JustUnderTheBound", idx({1 << 30, 1, 1}, "x"), kLabels,
                  "images: claims 1073741824 values and holds 1"},
        IdxDamage{"FewerLabels", kImages, idx({1}, "\x07"), "labels: has 1 labels, but"},
        IdxDamage{"WrongLabel", kImages, idx({2}, "\x07\x0A"), "labels: label 2 is 10, wanted 0..9"}),
    [](const auto& info) { return info.param.name; });

struct Spelling {
  const char* name;
  const char* dash;
  bool packed;
  friend std::ostream& operator<<(std::ostream& out, const Spelling& value) { return out << value.name; }
};

class ReadMnist : public ::testing::TestWithParam<Spelling> {};

TEST_P(ReadMnist, TakesEachSpellingOfTheFourNames) {
  const TempFolder folder;
  const auto put = [&](const std::string& stem, const std::string& kind, const std::string& bytes) {
    const auto file = folder / (stem + GetParam().dash + kind + (GetParam().packed ? ".gz" : ""));
    if (GetParam().packed) {
      pack(file, bytes);
    } else {
      folder.write(file.filename().string(), bytes);
    }
  };
  put("train-images", "idx3-ubyte", kImages);
  put("train-labels", "idx1-ubyte", kLabels);
  put("t10k-images", "idx3-ubyte", idx({1, 2, 3}, "abcdef"));
  put("t10k-labels", "idx1-ubyte", idx({1}, "\x04"));
  const auto sets = read_mnist(folder.path());
  ASSERT_TRUE(sets) << sets.error().message;
  EXPECT_EQ(sets->train.labels, (std::vector<std::int64_t>{7, 9}));
  EXPECT_EQ(sets->test.labels, (std::vector<std::int64_t>{4}));
}

INSTANTIATE_TEST_SUITE_P(Spellings, ReadMnist,
                         ::testing::Values(Spelling{"Dash", "-", false}, Spelling{"Dot", ".", false},
                                           Spelling{"PackedDash", "-", true}, Spelling{"PackedDot", ".", true}),
                         [](const auto& info) { return info.param.name; });

TEST(ReadMnistFolder, NamesTheFileThatIsMissing) {
  const TempFolder folder;
  folder.write("train-images-idx3-ubyte", kImages);
  const auto sets = read_mnist(folder.path());
  ASSERT_FALSE(sets);
  EXPECT_EQ(sets.error().code, Code::NotFound);
  EXPECT_EQ(sets.error().message.find("no train-labels-idx1-ubyte in " + folder.path().string()), 0);
}

TEST(ReadMnistFolder, RefusesTwoSetsOfDifferentWidth) {
  const TempFolder folder;
  folder.write("train-images-idx3-ubyte", kImages);
  folder.write("train-labels-idx1-ubyte", kLabels);
  folder.write("t10k-images-idx3-ubyte", idx({1, 2, 2}, "abcd"));
  folder.write("t10k-labels-idx1-ubyte", idx({1}, "\x04"));
  EXPECT_NE(read_mnist(folder.path()).error().message.find("have 6 pixels, the test images 4"), std::string::npos);
}

}  // namespace
}  // namespace rt::train
