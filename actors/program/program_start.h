#pragma once
// ProgramStart: what one rank of a trial needs to run as a program in any language, and the contract that follows from
// it: which files the rank has and which environment its program sees. docs/programs.md tells its users.
//
// Pure: nothing is started or written here.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace rt {

struct ProgramStart {
  std::vector<std::string> argv;         // argv[0] is looked for in PATH
  std::vector<std::string> environment;  // NAME=VALUE, added to this process's; the contract's own names win
  std::filesystem::path directory;       // the trial's folder, which exists, absolute
  std::filesystem::path log;             // takes the program's stdout and stderr, appended; absolute
  std::filesystem::path python_path;     // the folder of rt.py, put first in PYTHONPATH; empty: left alone

  std::string trial_id;
  std::string parameters = "{}";  // a JSON object
  int generation = 1;             // grows each time the gang is formed anew
  int max_restarts = 0;           // the sweep's max_failures
  std::filesystem::path restore;  // the checkpoint to go on from; empty: from the start
  std::uint64_t step = 0;         // the step of `restore`; reports up to it are old ones

  int rank = 0;
  int size = 1;
  int local_rank = -1;  // among the gang's ranks on this node; -1: the whole gang is on this node
  int local_size = 0;   // read where local_rank >= 0
  int node = 0;         // 0 .. nodes-1: this node among the gang's
  int nodes = 1;
  int threads = 1;                // OMP_NUM_THREADS, where the environment doesn't set it
  std::string master_addr;        // where the gang's store listens; empty: the gang has none
  std::uint16_t master_port = 0;  // 0: a rank alone, which opens a store of its own
};

// The files of one rank in one generation.
struct ProgramFiles {
  std::filesystem::path report;       // RT_REPORT: where its JSON lines go
  std::filesystem::path stop;         // RT_STOP_FILE: there, once the rank shall save and leave
  std::filesystem::path parameters;   // RT_PARAMETERS: the trial's, as JSON; the same for all ranks
  std::filesystem::path checkpoints;  // RT_CHECKPOINT_DIR: the same for all ranks and generations
};

ProgramFiles program_files(const ProgramStart& start);

// `inherited` and what the contract adds, as NAME=VALUE, each name once.
std::vector<std::string> program_environment(const ProgramStart& start, const std::vector<std::string>& inherited);

}  // namespace rt
