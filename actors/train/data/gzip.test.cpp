#include "rt/actors/train/data/gzip.h"

#include <gtest/gtest.h>

#include "rt/actors/testing/temp_folder.h"

namespace rt::train {
namespace {

using rt::testing::TempFolder;

// Packs like nothing, so that its gzip stream is long enough to be damaged in the middle.
std::string noise(std::size_t size) {
  std::string bytes;
  std::uint32_t state = 1;
  while (bytes.size() < size) bytes += static_cast<char>((state = state * 1664525U + 1013904223U) >> 24);
  return bytes;
}

std::filesystem::path pack(const TempFolder& folder, const std::string& bytes) {
  gzFile out = gzopen((folder / "x.gz").c_str(), "wb");
  gzwrite(out, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(out);
  return folder / "x.gz";
}

Result<std::string> read_all(const std::filesystem::path& path) {
  RT_TRY(file, GzipFile::open(path));
  return file.read(std::size_t{1} << 26);
}

TEST(GzipFile, ReadsPackedAndPlainAlike) {
  const TempFolder folder;
  const std::string bytes = noise(3'000'000);
  EXPECT_EQ(*read_all(pack(folder, bytes)), bytes);
  EXPECT_EQ(*read_all(folder.write("plain", bytes)), bytes);
  EXPECT_EQ(*read_all(folder.write("empty", "")), "");
}

TEST(GzipFile, GivesWhatIsAskedForAndThenGoesOn) {
  const TempFolder folder;
  auto file = GzipFile::open(pack(folder, "abcdef"));
  ASSERT_TRUE(file);
  EXPECT_EQ(*file->read(4), "abcd");
  EXPECT_EQ(*file->read(4), "ef");
  EXPECT_EQ(*file->read(4), "");
}

TEST(GzipFile, UnpacksNoMoreThanItWasAskedFor) {
  const TempFolder folder;
  auto file = GzipFile::open(pack(folder, std::string(50'000'000, '\0')));
  ASSERT_TRUE(file);
  EXPECT_EQ(file->read(1000)->size(), 1000);
}

TEST(GzipFile, NoticesThatTheFileIsCutOff) {
  const TempFolder folder;
  const std::string packed = rt::testing::read_file(pack(folder, noise(100'000)));
  for (const std::size_t size : {packed.size() - 1, packed.size() - 8, packed.size() / 2, std::size_t{12}}) {
    const auto bytes = read_all(folder.write("cut.gz", packed.substr(0, size)));
    ASSERT_FALSE(bytes) << size;
    EXPECT_EQ(bytes.error().code, Code::Corrupt);
    EXPECT_NE(bytes.error().message.find("cut.gz is cut off"), std::string::npos) << bytes.error().message;
  }
}

TEST(GzipFile, NoticesAFlippedByte) {
  const TempFolder folder;
  std::string packed = rt::testing::read_file(pack(folder, noise(100'000)));
  packed[packed.size() / 2] ^= 0x20;
  const auto bytes = read_all(folder.write("flipped.gz", packed));
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().code, Code::Corrupt);
  EXPECT_NE(bytes.error().message.find("flipped.gz is damaged"), std::string::npos) << bytes.error().message;
}

TEST(GzipFile, SaysThatThereIsNoSuchFile) {
  const TempFolder folder;
  EXPECT_EQ(GzipFile::open(folder / "none").error().code, Code::NotFound);
  EXPECT_EQ(GzipFile::open(folder.path()).error().message, folder.path().string() + " is a folder, wanted a file");
}

}  // namespace
}  // namespace rt::train
