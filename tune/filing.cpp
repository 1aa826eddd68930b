#include "rt/tune/filing.h"

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "rt/runtime/base/checksum.h"
#include "rt/runtime/base/crash_point.h"
#include "rt/runtime/base/files.h"

namespace rt::tune {
namespace {

namespace fs = std::filesystem;

Error failure(const std::string& what, const fs::path& path, const std::error_code& error) {
  return system_error("cannot " + what + " " + path.string(), error.value());
}

// What tells a file from another one under its name, and from itself after a change. Links are not followed.
struct Facts {
  dev_t device = 0;
  ino_t inode = 0;
  off_t size = 0;
  std::int64_t changed_s = 0, changed_ns = 0;
  bool operator==(const Facts&) const = default;
};

std::optional<Facts> facts_of(const fs::path& file) {
  struct stat facts {};
  if (::lstat(file.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) return std::nullopt;
  return Facts{facts.st_dev, facts.st_ino, facts.st_size, facts.st_ctim.tv_sec, facts.st_ctim.tv_nsec};
}

// Unavailable: the checkpoint was changed while it was read.
Error changing(const fs::path& path) { return {Code::Unavailable, path.string() + " was changed while it was read"}; }

bool is_changing(const Result<Checkpoint>& described) {
  return !described && described.error().code == Code::Unavailable;
}

Result<SavedFile> describe_file(const fs::path& file, const fs::path& root) {
  const auto before = facts_of(file);
  const auto sum = file_checksum(file);
  if (!before || facts_of(file) != before) return changing(file);
  if (!sum) return sum.error();
  return SavedFile{file.lexically_relative(root).string(), static_cast<std::uint64_t>(before->size), *sum};
}

Result<Checkpoint> describe_once(const fs::path& root) {
  std::error_code error;
  if (!fs::is_directory(fs::symlink_status(root, error)))
    return Error{Code::NotFound, "there is no checkpoint folder " + root.string()};
  std::vector<fs::path> files;
  for (auto it = fs::recursive_directory_iterator(root, error); !error && it != fs::recursive_directory_iterator();
       it.increment(error))
    if (fs::is_regular_file(it->symlink_status(error))) files.push_back(it->path());
  if (error == std::errc::no_such_file_or_directory) return changing(root);
  if (error) return failure("read", root, error);
  std::sort(files.begin(), files.end());
  Checkpoint checkpoint;
  for (const fs::path& file : files) {
    RT_TRY(saved, describe_file(file, root));
    checkpoint.files.push_back(std::move(saved));
  }
  return checkpoint;
}

}  // namespace

Result<fs::path> prepare_checkpoint(const fs::path& folder, const std::string& name) {
  const fs::path work = folder / (name + ".tmp");
  RT_CHECK(remove_tree(work));
  RT_CHECK(remove_tree(folder / name));
  RT_CHECK(make_folders(work));
  RT_CRASH_POINT("checkpoint.prepared");
  return work;
}

Result<Checkpoint> publish_checkpoint(const fs::path& folder, const std::string& name) {
  const fs::path work = folder / (name + ".tmp");
  RT_TRY(checkpoint, describe_checkpoint(folder, name + ".tmp"));
  checkpoint.name = name;
  RT_CHECK(fsync_tree(work));
  RT_CRASH_POINT("checkpoint.before_rename");
  std::error_code error;
  fs::rename(work, folder / name, error);
  if (error) return failure("rename to", folder / name, error);
  RT_CRASH_POINT("checkpoint.after_rename");
  RT_CHECK(fsync_directory(folder));
  return checkpoint;
}

Result<Checkpoint> describe_checkpoint(const fs::path& folder, const std::string& name) {
  constexpr int kTries = 20;
  auto described = describe_once(folder / name);
  for (int tries = 1; tries < kTries && is_changing(described); ++tries) described = describe_once(folder / name);
  if (is_changing(described))
    return Error{Code::Unavailable, described.error().message + ", and so in each of " + std::to_string(kTries) +
                                        " tries; complete a checkpoint before a report names it, then leave it alone"};
  RT_TRY(checkpoint, std::move(described));
  checkpoint.name = name;
  return checkpoint;
}

Status verify_checkpoint(const fs::path& folder, const Checkpoint& checkpoint) {
  const fs::path root = folder / checkpoint.name;
  std::error_code error;
  if (!fs::is_directory(root, error))
    return Error{Code::Corrupt, "the checkpoint's folder " + root.string() + " is missing"};
  for (const SavedFile& saved : checkpoint.files) {
    const fs::path file = root / saved.name;
    const std::string what = "the checkpoint's file " + file.string();
    const std::uint64_t size = fs::file_size(file, error);
    if (error) return Error{Code::Corrupt, what + " can't be read: " + error.message()};
    if (size != saved.size)
      return Error{Code::Corrupt,
                   what + " has " + std::to_string(size) + " bytes, it was saved with " + std::to_string(saved.size)};
    const auto sum = file_checksum(file);
    if (!sum) return Error{Code::Corrupt, what + " can't be read: " + sum.error().message};
    if (*sum != saved.crc32c) return Error{Code::Corrupt, what + " is damaged: its checksum isn't the saved one"};
  }
  return Unit{};
}

Status drop_unrecorded(const fs::path& folder, const std::vector<std::string>& recorded) {
  std::error_code error;
  std::vector<fs::path> left_over;
  for (auto it = fs::directory_iterator(folder, error); !error && it != fs::directory_iterator(); it.increment(error))
    if (std::find(recorded.begin(), recorded.end(), it->path().filename()) == recorded.end()) left_over.push_back(*it);
  if (error) return failure("read", folder, error);
  for (const fs::path& path : left_over) RT_CHECK(remove_tree(path));
  return Unit{};
}

Status room_in(const fs::path& folder) {
  constexpr std::uint64_t kFull = 64 << 10;  // bytes free: less is no room for a checkpoint
  struct statvfs disk {};
  if (::statvfs(folder.c_str(), &disk) != 0)
    return system_error("cannot look at the disk of " + folder.string(), errno);
  const std::uint64_t bytes = disk.f_bavail * disk.f_frsize;
  const bool has_inodes = disk.f_files == 0 || disk.f_favail > 0;  // some file systems count none
  if (bytes >= kFull && has_inodes) return Unit{};
  return system_error("the disk of " + folder.string() + " has " + std::to_string(bytes) + " bytes and " +
                          std::to_string(disk.f_favail) + " inodes free",
                      ENOSPC);
}

Status drop_checkpoint(const fs::path& folder, const std::string& name) {
  RT_CRASH_POINT("checkpoint.before_drop");
  return remove_tree(folder / name);
}

}  // namespace rt::tune
