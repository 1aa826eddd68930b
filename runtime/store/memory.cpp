#include "rt/runtime/store/memory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <new>

namespace rt::store {
namespace {

constexpr std::uint64_t kMostCapacity = std::uint64_t{UINT32_MAX / kBlocksPerSegment} * kSegment;

Error refused(const std::string& path, const std::string& why) {
  return {Code::Refused, path + " is no object store of this rt: " + why};
}

}  // namespace

Result<Memory> Memory::make(std::uint64_t capacity) {
  if (capacity == 0 || capacity > kMostCapacity)
    return Error{Code::Invalid, "an object store holds 1 to " + std::to_string(kMostCapacity) + " bytes, not " +
                                    std::to_string(capacity)};
  const Layout layout = Layout::of(capacity);
  RT_TRY(fd, make_shared_memory("rt-store", layout.whole));
  if (::fallocate(fd.get(), 0, 0, sizeof(Header)) != 0) return system_error("no memory for an object store", errno);
  RT_TRY(mapping, map_shared(fd.get(), 0, layout.whole));
  auto* const header = new (mapping.data()) Header;
  header->blocks = layout.blocks;
  header->entries = layout.entries;
  return Memory(std::move(fd), std::move(mapping), layout);
}

Result<Memory> Memory::open(const std::string& path) {
  RT_TRY(fd, open_file(path, O_RDWR));
  struct stat facts {};
  if (::fstat(fd.get(), &facts) != 0) return system_error("cannot look at " + path, errno);
  RT_CHECK(check_shared_memory(fd.get(), static_cast<std::size_t>(facts.st_size)));
  if (static_cast<std::size_t>(facts.st_size) < sizeof(Header)) return refused(path, "it is too short");
  RT_TRY(mapping, map_shared(fd.get(), 0, static_cast<std::size_t>(facts.st_size)));
  const auto& header = *reinterpret_cast<const Header*>(mapping.data());
  if (header.magic != Header::kMagic) return refused(path, "it begins with other bytes");
  const Layout layout = Layout::of(std::uint64_t{header.blocks} * kBlock);
  if (layout.whole != mapping.size() || layout.entries != header.entries) return refused(path, "its sizes don't fit");
  return Memory(std::move(fd), std::move(mapping), layout);
}

std::string Memory::path() const { return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(fd_.get()); }

}  // namespace rt::store
