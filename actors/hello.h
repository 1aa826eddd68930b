#pragma once
// Hello: how a process joins its node: the first exchange on its connection to the agent, before it has an event loop.

#include <cstdint>
#include <string>

#include "rt/actors/program_copy.h"
#include "rt/runtime/base/result.h"

namespace rt::detail {

struct Hello {
  std::uint64_t actor = 0;  // of a worker; 0: a driver's, or of a process forked ahead
  std::uint32_t incarnation = 0;
  std::string address;      // where a worker listens
  std::string name_space;   // of a driver
  JobProgram program = {};  // of a process forked ahead: what it can be
};

// What the agent says to it.
struct Joined {
  std::uint64_t client = 0;
  std::uint32_t node = 0;
  std::string run_folder;
  std::string store_path;        // of the node's object store; empty: it has none
  std::uint32_t store_slot = 0;  // this process's in it
};

// Code::Refused with the agent's reason; Code::Deadline where it says nothing for 30 s.
Result<Joined> say_hello(int agent_fd, const Hello& hello);

}  // namespace rt::detail
