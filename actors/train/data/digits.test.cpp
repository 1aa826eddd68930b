#include "rt/actors/train/data/digits.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "rt/actors/testing/temp_folder.h"

namespace rt::train {
namespace {

using rt::testing::TempFolder;

// A file of the right shape; line n is 64 times n % 17, label n % 10.
std::string whole_file() {
  std::string text;
  for (int line = 0; line < 1797; ++line) {
    for (int pixel = 0; pixel < 64; ++pixel) text += std::to_string(line % 17) + ",";
    text += std::to_string(line % 10) + "\n";
  }
  return text;
}

// `text` with line `number` (from 1) put in the place of what was there.
std::string with_line(std::string text, int number, const std::string& line) {
  std::size_t begin = 0;
  for (int i = 1; i < number; ++i) begin = text.find('\n', begin) + 1;
  return text.replace(begin, text.find('\n', begin) - begin, line);
}

std::string sixty_four(const std::string& pixel) {
  std::string line;
  for (int i = 0; i < 64; ++i) line += pixel + ",";
  return line;
}

TEST(ReadDigits, ScalesPixelsByTheirBrightest) {
  const TempFolder folder;
  const auto data = read_digits(folder.write("digits.csv", whole_file()));
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(data->rows, 1797);
  EXPECT_EQ(data->columns, 64);
  EXPECT_EQ(data->classes, 10);
  EXPECT_EQ(data->features[3 * 64], 3.0F / 16.0F);
  EXPECT_EQ(data->features[16 * 64 + 63], 1.0F);
  EXPECT_EQ(data->labels[1796], 6);
}

// The counts are those of scikit-learn's own description of the set.
TEST(ReadDigits, ReadsTheRealFile) {
  if (!std::filesystem::exists(RT_DIGITS)) GTEST_SKIP() << "no " << RT_DIGITS << ": scripts/setup brings it";
  const auto data = read_digits(RT_DIGITS);
  ASSERT_TRUE(data) << data.error().message;
  std::array<int, 10> count{};
  for (const std::int64_t label : data->labels) ++count[static_cast<std::size_t>(label)];
  EXPECT_EQ(count, (std::array<int, 10>{178, 182, 177, 183, 181, 182, 181, 179, 174, 180}));
  EXPECT_EQ(std::accumulate(data->features.begin(), data->features.end(), 0.0) * 16.0, 561718.0);
  EXPECT_EQ(data->features[2], 5.0F / 16.0F);
}

struct DigitsDamage {
  const char* name;
  std::string text;
  const char* says;
  friend std::ostream& operator<<(std::ostream& out, const DigitsDamage& value) { return out << value.name; }
};

class ReadDigitsRefuses : public ::testing::TestWithParam<DigitsDamage> {};

TEST_P(ReadDigitsRefuses, AndSaysWhereAndWhatToRun) {
  const TempFolder folder;
  const auto file = folder.write("digits.csv.gz", GetParam().text);
  const auto data = read_digits(file);
  ASSERT_FALSE(data);
  EXPECT_EQ(data.error().code, Code::Corrupt);
  for (const std::string& part : {file.string(), std::string(GetParam().says), std::string("run scripts/setup")})
    EXPECT_NE(data.error().message.find(part), std::string::npos) << data.error().message;
}

std::string cut_gzip() {
  const TempFolder folder;
  const std::string text = whole_file();
  gzFile out = gzopen((folder / "x.gz").c_str(), "wb");
  gzwrite(out, text.data(), static_cast<unsigned>(text.size()));
  gzclose(out);
  const std::string packed = rt::testing::read_file(folder / "x.gz");
  return packed.substr(0, packed.size() / 2);
}

INSTANTIATE_TEST_SUITE_P(
    Damages, ReadDigitsRefuses,
    ::testing::Values(
        DigitsDamage{"Short", whole_file().substr(0, whole_file().rfind('\n', whole_file().size() - 2) + 1),
                     "line 1796: the file ends here"},
        DigitsDamage{"Empty", "", "line 0: the file ends here"},
        DigitsDamage{"Long", whole_file() + sixty_four("0") + "0\n", "line 1798: there are more than 1797 lines"},
        DigitsDamage{"Endless", std::string(1'000'000, '\n'), "line 1: has 0 values"},
        DigitsDamage{"TooBright", with_line(whole_file(), 7, sixty_four("17") + "3"), "line 7: value 1 is '17'"},
        DigitsDamage{"Negative", with_line(whole_file(), 7, sixty_four("-1") + "3"), "line 7: value 1 is '-1'"},
        DigitsDamage{"Fraction", with_line(whole_file(), 8, sixty_four("1.5") + "3"), "line 8: value 1 is '1.5'"},
        DigitsDamage{"Text", with_line(whole_file(), 9, "<html>"), "line 9: value 1 is '<html>'"},
        DigitsDamage{"WrongLabel", with_line(whole_file(), 10, sixty_four("1") + "10"), "line 10: value 65 is '10'"},
        DigitsDamage{"FewColumns", with_line(whole_file(), 11, "1,2,3"), "line 11: has 3 values"},
        DigitsDamage{"ManyColumns", with_line(whole_file(), 12, sixty_four("1") + "3,4"), "line 12: has more than 65"},
        DigitsDamage{"CutGzip", cut_gzip(), "is cut off"}),
    [](const auto& info) { return info.param.name; });

TEST(ReadDigits, SaysThatTheFileIsMissingAndWhatToRun) {
  const TempFolder folder;
  const auto data = read_digits(folder / "digits.csv.gz");
  ASSERT_FALSE(data);
  EXPECT_EQ(data.error().code, Code::NotFound);
  EXPECT_EQ(data.error().message, "no such file: " + (folder / "digits.csv.gz").string() +
                                      "; run scripts/setup, which takes the file from the scikit-learn wheel");
}

}  // namespace
}  // namespace rt::train
