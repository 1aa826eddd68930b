#include "rt/runtime/base/symbols.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "rt/runtime/base/files.h"

namespace rt {
namespace {

std::string demangled(const char* name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
  return status == 0 ? text.get() : name;
}

}  // namespace

// One file's functions. A damaged file has none.
class Symbols::Table {
 public:
  explicit Table(const std::string& file) {
    const auto opened = open_file(file, O_RDONLY);
    struct stat info {};
    if (!opened || ::fstat(opened->get(), &info) != 0 || info.st_size < static_cast<off_t>(sizeof(ElfW(Ehdr)))) return;
    size_ = static_cast<std::size_t>(info.st_size);
    void* const mapped = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, opened->get(), 0);
    if (mapped == MAP_FAILED) return;
    bytes_ = static_cast<const char*>(mapped);
    read();
  }
  ~Table() {
    if (bytes_) ::munmap(const_cast<char*>(bytes_), size_);
  }
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  const char* at(std::uint64_t offset) const {
    auto after = std::upper_bound(functions_.begin(), functions_.end(), offset,
                                  [](std::uint64_t value, const Entry& entry) { return value < entry.begin; });
    if (after == functions_.begin()) return nullptr;
    const Entry& before = *std::prev(after);
    return offset < before.begin + std::max<std::uint64_t>(before.size, 1) ? before.name : nullptr;
  }

 private:
  struct Entry {
    std::uint64_t begin, size;
    const char* name;
  };

  template <class T>
  const T* part(std::uint64_t at, std::uint64_t count) const {
    const bool fits = at <= size_ && count <= (size_ - at) / sizeof(T) && at % alignof(T) == 0;
    return fits ? reinterpret_cast<const T*>(bytes_ + at) : nullptr;
  }

  void read() {
    const auto* const header = part<ElfW(Ehdr)>(0, 1);
    if (std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_shentsize != sizeof(ElfW(Shdr))) return;
    const auto* const sections = part<ElfW(Shdr)>(header->e_shoff, header->e_shnum);
    if (!sections) return;
    for (int i = 0; i < header->e_shnum; ++i)
      if ((sections[i].sh_type == SHT_SYMTAB || sections[i].sh_type == SHT_DYNSYM) &&
          sections[i].sh_link < header->e_shnum)
        read(sections[i], sections[sections[i].sh_link]);
    std::sort(functions_.begin(), functions_.end(), [](const Entry& a, const Entry& b) { return a.begin < b.begin; });
  }

  void read(const ElfW(Shdr) & section, const ElfW(Shdr) & names) {
    const std::uint64_t count = section.sh_size / sizeof(ElfW(Sym));
    const auto* const symbols = part<ElfW(Sym)>(section.sh_offset, count);
    const char* const text = part<char>(names.sh_offset, names.sh_size);
    if (!symbols || !text || names.sh_size == 0 || text[names.sh_size - 1] != '\0') return;
    for (std::uint64_t i = 0; i < count; ++i)
      if (ELF64_ST_TYPE(symbols[i].st_info) == STT_FUNC && symbols[i].st_value != 0 &&
          symbols[i].st_name < names.sh_size)
        functions_.push_back({symbols[i].st_value, symbols[i].st_size, text + symbols[i].st_name});
  }

  const char* bytes_ = nullptr;
  std::size_t size_ = 0;
  std::vector<Entry> functions_;  // ascending
};

Symbols::Symbols() = default;
Symbols::~Symbols() = default;

Function Symbols::at(std::uint64_t address) {
  Dl_info info{};
  link_map* loaded = nullptr;
  if (::dladdr1(reinterpret_cast<void*>(address), &info, reinterpret_cast<void**>(&loaded), RTLD_DL_LINKMAP) == 0)
    return {};
  const std::string file = loaded && loaded->l_name && *loaded->l_name ? loaded->l_name : "/proc/self/exe";
  Function function{.module = info.dli_fname ? info.dli_fname : file,
                    .offset = address - (loaded ? loaded->l_addr : 0)};
  auto& table = tables_[file];
  if (!table) table = std::make_unique<Table>(file);
  if (const char* const name = table->at(function.offset))
    function.name = demangled(name);
  else if (info.dli_sname)
    function.name = demangled(info.dli_sname);
  return function;
}

}  // namespace rt
