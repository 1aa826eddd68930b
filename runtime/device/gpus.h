#pragma once
// GPUs: what NVIDIA's driver says this node has, asked through NVML, which is loaded only when it is asked.
//
// Owner: a plain value; the library is closed again before list_gpus returns. Thread: any, one at a time.
// Danger: the first call may take seconds where the driver keeps no state (persistence mode off), and a process that
// will be forked must not make it: only a node agent does, and never while somebody waits for its start.
// It never opens CUDA, so it takes no memory on a GPU.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace rt {

struct Gpu {
  int index = 0;     // as nvidia-smi counts them
  std::string uuid;  // "GPU-..."; what leases and the ledger name it by
  std::string name;  // "NVIDIA L40S"; empty where the driver can't tell
  std::uint64_t memory_bytes = 0;
  bool operator==(const Gpu&) const = default;
};

struct GpuList {
  std::vector<Gpu> gpus;  // by index
  std::string reason;     // why there are none, or why some are left out, for a person; else empty
};

// No driver, and a GPU that doesn't answer, are no errors but a reason. `library` is another one in tests.
GpuList list_gpus(const std::filesystem::path& library = "libnvidia-ml.so.1");

}  // namespace rt
