#pragma once
// CheckpointFiles: one rank's files of a checkpoint and the manifest that vouches for them. Knows nothing of LibTorch:
// bytes in, bytes out. Internal to checkpoint.cpp.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "rt/runtime/base/result.h"

namespace rt::train {

struct CheckpointFile {
  std::uint64_t bytes = 0;
  std::uint32_t crc32c = 0;
};

struct CheckpointManifest {
  int ranks = 1;
  std::uint64_t step = 0;
  std::map<std::string, CheckpointFile> files;
};

// Writes `bytes` durably and enters the file into `manifest`.
Status write_checkpoint_file(const std::filesystem::path& folder, const std::string& name, std::string_view bytes,
                             CheckpointManifest& manifest);
Status write_manifest(const std::filesystem::path& folder, int rank, const CheckpointManifest& manifest);

Result<CheckpointManifest> read_manifest(const std::filesystem::path& folder, int rank);
Result<std::string> read_checkpoint_file(const std::filesystem::path& folder, const std::string& name,
                                         const CheckpointManifest& manifest);

}  // namespace rt::train
