#include "rt/runtime/base/checksum.h"

#include <gtest/gtest.h>

#include <numeric>

#include "rt/runtime/base/files.h"
#include "rt/runtime/base/temporary_folder.h"

namespace rt {
namespace {

std::string counting(int from, int step) {
  std::string bytes(32, '\0');
  for (int i = 0; i < 32; ++i) bytes[static_cast<std::size_t>(i)] = static_cast<char>(from + i * step);
  return bytes;
}

struct Vector {
  std::string bytes;
  std::uint32_t crc;
};

// RFC 3720, B.4 (the values there are listed byte by byte, lowest first), and "123456789" of the CRC catalogues.
std::vector<Vector> rfc3720() {
  const std::string read_command(
      "\x01\xc0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x14\0\0\0\0\0\x04\0\0\0\0\x14\0\0\0\x18\x28\0\0\0\0\0\0\0\x02\0\0\0\0\0\0"
      "\0",
      48);
  return {{std::string(32, '\0'), 0x8A9136AA}, {std::string(32, '\xff'), 0x62A8AB43},
          {counting(0, 1), 0x46DD794E},        {counting(31, -1), 0x113FDB5C},
          {read_command, 0xD9963A56},          {"123456789", 0xE3069283}};
}

TEST(Crc32c, GivesTheValuesOfRfc3720) {
  for (const auto& [bytes, crc] : rfc3720()) {
    EXPECT_EQ(crc32c(bytes), crc);
    EXPECT_EQ(crc32c_by_tables(bytes), crc);
    EXPECT_EQ(checksum(bytes), crc);
  }
}

// Bytes without a pattern, the same in every run.
std::string noise(std::size_t size) {
  std::string bytes(size, '\0');
  std::uint32_t state = 1;
  for (char& byte : bytes) byte = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  return bytes;
}

TEST(Crc32c, IsTheSameByInstructionByTablesInPiecesAndCombined) {
  const std::string bytes = noise(1000);
  for (std::size_t cut = 0; cut <= bytes.size(); cut += 37) {
    const auto a = std::string_view(bytes).substr(0, cut);
    const auto b = std::string_view(bytes).substr(cut);
    EXPECT_EQ(crc32c(a), crc32c_by_tables(a));
    EXPECT_EQ(crc32c(b, crc32c(a)), crc32c(bytes));
    EXPECT_EQ(crc32c_combine(crc32c(a), crc32c(b), b.size()), crc32c(bytes));
  }
}

TEST(Checksum, InParallelIsTheSerialValue) {
  TemporaryFolder folder;
  const auto path = folder.path() / "large";
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{1} << 20, (std::size_t{5} << 20) + 77}) {
    const std::string bytes = noise(size);
    ASSERT_TRUE(write_file_atomic(path, bytes));
    EXPECT_EQ(checksum(bytes), crc32c(bytes)) << size;
    EXPECT_EQ(file_checksum(path).get(), crc32c(bytes)) << size;
  }
}

// FIPS 180-4's examples, as NIST publishes them.
TEST(Sha256, GivesTheValuesOfNist) {
  TemporaryFolder folder;
  const std::pair<std::string, const char*> vectors[] = {
      {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
      {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
      {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
       "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
      {std::string(1'000'000, 'a'), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"}};
  for (const auto& [bytes, hash] : vectors) {
    ASSERT_TRUE(write_file_atomic(folder.path() / "file", bytes));
    EXPECT_EQ(file_sha256(folder.path() / "file").get(), hash);
    EXPECT_EQ(sha256(bytes), hash);
  }
}

TEST(Sha256, ReadsFilesOfSeveralPieces) {
  TemporaryFolder folder;
  const std::string bytes = noise((2 << 20) + 3);
  ASSERT_TRUE(write_file_atomic(folder.path() / "file", bytes));
  EXPECT_EQ(file_sha256(folder.path() / "file").get(), sha256(bytes));
}

TEST(Checksum, NamesAFileThatIsNotThere) {
  EXPECT_EQ(file_checksum("/nowhere/file").error().code, Code::NotFound);
  EXPECT_EQ(file_sha256("/nowhere/file").error().message, "cannot open /nowhere/file: No such file or directory");
}

}  // namespace
}  // namespace rt
