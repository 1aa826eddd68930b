#pragma once
// ProgramRank: one rank of a trial that is a program in any language (docs/programs.md is its users' contract). It
// starts the program, hands on its reports, stops it, and leaves no process of its tree behind.
//
// Owner: the actor that is this rank. Threads: start, next_report and the destructor on one thread that outlives the
// program (the kernel kills the program with the thread that started it); `stop` on any, also while next_report waits.
// Always: whatever way the program ends, its whole tree is dead before next_report or stop says so. When this process
// dies, the program dies with it; what the program left to itself falls to the subreaper above, who kills it.
// Danger: it makes this process a subreaper and takes every child that appears after `start` for the program's. A
// process starts no other children while it hosts a ProgramRank.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>

#include "rt/actors/program/program_start.h"
#include "rt/actors/trainable.h"
#include "rt/runtime/base/result.h"

namespace rt {

struct ProgramReport {
  std::uint64_t step = 0;
  Metrics metrics;                   // may hold nan and infinities
  std::filesystem::path checkpoint;  // a complete folder below the trial's; empty: none came with this report
  bool finished = false;             // the program ended by itself, all well; step is then the last one
};

struct StopDeadlines {
  std::chrono::milliseconds save{30'000};      // from the stop file to SIGTERM
  std::chrono::milliseconds terminate{5'000};  // from SIGTERM to SIGKILL
};

class ProgramRank {
 public:
  ProgramRank();
  ~ProgramRank();  // kills what still runs
  ProgramRank(const ProgramRank&) = delete;
  ProgramRank& operator=(const ProgramRank&) = delete;

  // Once. The program runs when it returns; Code::NotFound or Code::Invalid where it can't be executed.
  Status start(ProgramStart start);

  // Waits for the next report. Only rank 0's count: the others wait for their end. Where the program ended with an exit
  // code or by a signal: Code::NoSpace if it printed errno's text for a full disk at its end, else Code::Failed, with
  // the last lines of its log. Code::Unavailable where `stop` ended it, after its last report.
  Result<ProgramReport> next_report();

  // Asks the program to save and leave, and makes it. A program that has ended by itself is left at that. What it had
  // reported, and still reports on its way out, stays there for next_report.
  Status stop(StopDeadlines deadlines);

 private:
  class Running;
  std::unique_ptr<Running> running_;  // null before start
};

}  // namespace rt
