#include "rt/runtime/base/memory_journal.h"

namespace rt {
namespace {

class MemoryJournal final : public Journal {
 public:
  explicit MemoryJournal(MemoryDisk& disk) : disk_(disk) {}

  Status append_all(std::span<const std::string_view> records) override {
    disk_.contents.records.insert(disk_.contents.records.end(), records.begin(), records.end());
    return Unit{};
  }

  Status snapshot(std::string_view state) override {
    disk_.contents = {std::string(state), {}};
    return Unit{};
  }

  Status sync() override { return Unit{}; }

 private:
  MemoryDisk& disk_;
};

}  // namespace

OpenedJournal open_memory_journal(MemoryDisk& disk) {
  return {std::make_unique<MemoryJournal>(disk), disk.contents, ++disk.term, {}};
}

}  // namespace rt
