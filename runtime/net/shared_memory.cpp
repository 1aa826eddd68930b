#include "rt/runtime/net/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

namespace rt {
namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

}  // namespace

Mapping::Mapping(Mapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

Mapping::~Mapping() {
  if (data_) ::munmap(data_, size_);
}

Result<Fd> make_shared_memory(const char* name, std::size_t size) {
  Fd fd(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) return system_error("cannot make shared memory", errno);
  if (::ftruncate(fd.get(), static_cast<off_t>(size)) != 0)
    return system_error("cannot make " + std::to_string(size) + " bytes of shared memory", errno);
  if (::fcntl(fd.get(), F_ADD_SEALS, kSeals) != 0) return system_error("cannot seal shared memory", errno);
  return fd;
}

Status check_shared_memory(int fd, std::size_t size) {
  struct stat facts {};
  if (::fstat(fd, &facts) != 0) return system_error("what was passed as shared memory cannot be looked at", errno);
  if (static_cast<std::size_t>(facts.st_size) != size)
    return Error{Code::Refused, "the shared memory that was passed has " + std::to_string(facts.st_size) +
                                    " bytes, wanted " + std::to_string(size)};
  const int seals = ::fcntl(fd, F_GET_SEALS);
  if (seals < 0 || (seals & kSeals) != kSeals)
    return Error{Code::Refused, "the shared memory that was passed isn't sealed: its size could change"};
  return Unit{};
}

Result<Mapping> map_shared(int fd, std::size_t offset, std::size_t size) {
  void* data = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, static_cast<off_t>(offset));
  if (data == MAP_FAILED) return system_error("cannot map " + std::to_string(size) + " bytes of shared memory", errno);
  return Mapping(static_cast<char*>(data), size);
}

Result<Mapping> map_shared_twice(int fd, std::size_t offset, std::size_t size) {
  void* place = ::mmap(nullptr, 2 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED) return system_error("no room for " + std::to_string(2 * size) + " bytes", errno);
  Mapping whole(static_cast<char*>(place), 2 * size);
  for (char* at : {whole.data(), whole.data() + size})
    if (::mmap(at, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, static_cast<off_t>(offset)) == MAP_FAILED)
      return system_error("cannot map " + std::to_string(size) + " bytes of shared memory", errno);
  return whole;
}

}  // namespace rt
