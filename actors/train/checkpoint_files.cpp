#include "rt/actors/train/checkpoint_files.h"

#include <nlohmann/json.hpp>

#include "rt/runtime/base/checksum.h"
#include "rt/runtime/base/crash_point.h"
#include "rt/runtime/base/files.h"

namespace rt::train {
namespace {

using Json = nlohmann::json;

constexpr int kFormat = 1;

std::filesystem::path manifest_path(const std::filesystem::path& folder, int rank) {
  return folder / ("rank-" + std::to_string(rank) + ".json");
}

Error damaged(const std::filesystem::path& path, const std::string& what) {
  return {Code::Corrupt, path.string() + " is damaged: " + what + "; go on from an earlier checkpoint"};
}

}  // namespace

Status write_checkpoint_file(const std::filesystem::path& folder, const std::string& name, std::string_view bytes,
                             CheckpointManifest& manifest) {
  RT_CHECK(write_file_atomic(folder / name, bytes));
  manifest.files[name] = {bytes.size(), crc32c(bytes)};
  RT_CRASH_POINT("checkpoint.file");
  return Unit{};
}

Status write_manifest(const std::filesystem::path& folder, int rank, const CheckpointManifest& manifest) {
  Json files = Json::object();
  for (const auto& [name, file] : manifest.files) files[name] = {{"bytes", file.bytes}, {"crc32c", file.crc32c}};
  const Json json = {{"format", kFormat}, {"ranks", manifest.ranks}, {"step", manifest.step}, {"files", files}};
  RT_CRASH_POINT("checkpoint.before_manifest");
  RT_CHECK(write_file_atomic(manifest_path(folder, rank), json.dump(2) + "\n"));
  RT_CRASH_POINT("checkpoint.after_manifest");
  return Unit{};
}

Result<CheckpointManifest> read_manifest(const std::filesystem::path& folder, int rank) {
  const auto path = manifest_path(folder, rank);
  RT_TRY(text, read_file(path));
  try {
    const Json json = Json::parse(text);
    if (const int format = json.at("format"); format != kFormat)
      return Error{Code::Refused, path.string() + " has format " + std::to_string(format) + ", this rt reads format " +
                                      std::to_string(kFormat)};
    CheckpointManifest manifest{.ranks = json.at("ranks"), .step = json.at("step"), .files = {}};
    for (const auto& [name, file] : json.at("files").items())
      manifest.files[name] = {file.at("bytes"), file.at("crc32c")};
    return manifest;
  } catch (const Json::exception& error) {
    return damaged(path, error.what());
  }
}

Result<std::string> read_checkpoint_file(const std::filesystem::path& folder, const std::string& name,
                                         const CheckpointManifest& manifest) {
  const auto path = folder / name;
  const auto entry = manifest.files.find(name);
  if (entry == manifest.files.end()) return damaged(path, "its manifest doesn't name it");
  RT_TRY(bytes, read_file(path));
  if (bytes.size() != entry->second.bytes)
    return damaged(
        path, "it has " + std::to_string(bytes.size()) + " bytes, written were " + std::to_string(entry->second.bytes));
  if (crc32c(bytes) != entry->second.crc32c) return damaged(path, "its checksum isn't the one that was written");
  return bytes;
}

}  // namespace rt::train
