#include "rt/runtime/base/checksum.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "rt/runtime/base/files.h"

namespace rt {
namespace {

constexpr std::size_t kPiece = 1 << 20;

std::uint32_t fold(const std::vector<std::uint32_t>& values, std::uint64_t size) {
  std::uint32_t all = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    all = crc32c_combine(all, values[i], std::min<std::uint64_t>(kPiece, size - i * kPiece));
  }
  return all;
}

class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) { EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr); }
  void add(std::string_view bytes) { EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()); }
  std::string hex() {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int size = 0;
    EVP_DigestFinal_ex(context_.get(), digest, &size);
    std::string text;
    for (unsigned int i = 0; i < size; ++i) {
      text += "0123456789abcdef"[digest[i] >> 4];
      text += "0123456789abcdef"[digest[i] & 15];
    }
    return text;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context_;
};

}  // namespace

std::uint32_t checksum(std::string_view bytes) {
  std::vector<std::uint32_t> values((bytes.size() + kPiece - 1) / kPiece);
  tbb::parallel_for(std::size_t{0}, values.size(),
                    [&](std::size_t i) { values[i] = crc32c(bytes.substr(i * kPiece, kPiece)); });
  return fold(values, bytes.size());
}

Result<std::uint32_t> file_checksum(const std::filesystem::path& path) {
  RT_TRY(fd, open_file(path, O_RDONLY));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return system_error("cannot stat " + path.string(), errno);
  const auto size = static_cast<std::uint64_t>(info.st_size);
  std::vector<std::uint32_t> values((size + kPiece - 1) / kPiece);
  std::mutex mutex;
  std::optional<Error> failure;
  tbb::parallel_for(std::size_t{0}, values.size(), [&](std::size_t i) {
    const std::uint64_t offset = i * kPiece;
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, size - offset));
    const auto piece = read_at(fd.get(), wanted, offset, path);
    if (piece && piece->size() == wanted) {
      values[i] = crc32c(*piece);
      return;
    }
    const std::lock_guard lock(mutex);
    failure = piece ? Error{Code::Corrupt, path.string() + " was cut to less than its " + std::to_string(size) +
                                               " bytes while it was read"}
                    : piece.error();
  });
  if (failure) return *failure;
  return fold(values, size);
}

std::string sha256(std::string_view bytes) {
  Sha256 hash;
  hash.add(bytes);
  return hash.hex();
}

Result<std::string> file_sha256(const std::filesystem::path& path) {
  RT_TRY(fd, open_file(path, O_RDONLY));
  Sha256 hash;
  for (std::uint64_t offset = 0;;) {
    RT_TRY(piece, read_at(fd.get(), kPiece, offset, path));
    hash.add(piece);
    offset += piece.size();
    if (piece.size() < kPiece) return hash.hex();
  }
}

}  // namespace rt
