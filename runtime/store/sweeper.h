#pragma once
// Sweeper: the agent's side of the store: it makes it, gives processes their slots, and cleans up after those that
// ended.
//
// Owner: the agent. Thread: one. It is on no process's path: what it does meanwhile, other processes don't wait for.

#include <memory>
#include <vector>

#include "rt/runtime/store/table.h"

namespace rt::store {

class Sweeper {
 public:
  static Result<std::unique_ptr<Sweeper>> make(std::uint64_t capacity);
  explicit Sweeper(Memory memory);

  std::string path() const { return memory_.path(); }
  // A slot for a process. 0: there are as many as there can be.
  std::uint32_t enter(pid_t pid);
  // It has died: its references are dropped, what it was making is freed. Those that it sent stay for who will read
  // them, and so long its slot isn't given again.
  void bury(pid_t pid);

  // Gives back the pages of segments that no object has touched since the last look but one; but `kept` bytes stay.
  void trim(std::uint64_t kept);

  std::uint64_t used() const;      // bytes of taken blocks
  std::uint64_t resident() const;  // bytes that the system has given
  std::uint64_t objects() const;

 private:
  void bury_slot(std::uint32_t slot);
  void end_work_of(std::uint32_t slot);
  void settle_added(std::uint32_t entry);
  bool has_sent(std::uint32_t slot) const;

  Memory memory_;
  Blocks blocks_;
  Table table_;
  std::vector<std::uint8_t> idle_;  // by segment: looks at which it was free
};

}  // namespace rt::store
