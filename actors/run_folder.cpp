#include "rt/actors/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "rt/runtime/base/id.h"
#include "rt/runtime/base/process.h"

namespace rt {
namespace {

namespace fs = std::filesystem;

Result<std::string> users_folder() {
  const char* chosen = std::getenv("RT_RUN_DIR");
  const std::string folder = std::string(chosen && *chosen ? chosen : "/tmp") + "/rt-" + std::to_string(::geteuid());
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return system_error("cannot make " + folder, errno);
  struct stat info {};
  if (::lstat(folder.c_str(), &info) != 0) return system_error(folder, errno);
  if (!S_ISDIR(info.st_mode) || info.st_uid != ::geteuid() || (info.st_mode & 077) != 0)
    return Error{Code::Refused, folder + " must be a folder of this user with mode 0700; remove it, or set RT_RUN_DIR"};
  return folder;
}

// The lock, or -1 where a living driver holds it.
int try_lock(const std::string& folder) {
  const int lock = ::open((folder + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock >= 0 && ::flock(lock, LOCK_EX | LOCK_NB) == 0) return lock;
  if (lock >= 0) ::close(lock);
  return -1;
}

void remove(const std::string& folder) {
  std::error_code ignored;
  fs::remove_all(folder, ignored);
}

void sweep_dead_runs(const std::string& parent) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(parent, error)) {
    const std::string folder = entry.path().string();
    // A folder that is just being made has no lock file yet, and is left alone.
    if (!fs::exists(folder + "/lock", error)) continue;
    const int lock = try_lock(folder);
    if (lock < 0) continue;
    sweep_run(entry.path().filename().string());
    remove(folder);
    ::close(lock);
  }
}

}  // namespace

int sweep_run(const std::string& id) {
  const auto killed = kill_marked("RT_RUN=" + id, std::chrono::seconds(5));
  return killed ? *killed : 0;
}

Result<RunFolder> RunFolder::create() {
  RT_TRY(parent, users_folder());
  sweep_dead_runs(parent);
  RT_TRY(random, random_id());
  const std::string id = random.substr(0, 16);
  const std::string path = parent + "/" + id;
  if (::mkdir(path.c_str(), 0700) != 0) return system_error("cannot make " + path, errno);
  const int lock = try_lock(path);
  if (lock < 0) {
    const int number = errno;
    remove(path);
    return system_error("cannot lock " + path + "/lock", number);
  }
  return RunFolder(path, id, lock);
}

RunFolder::RunFolder(RunFolder&& other) noexcept
    : path_(std::move(other.path_)), id_(std::move(other.id_)), lock_(std::exchange(other.lock_, -1)) {}

RunFolder::~RunFolder() {
  if (lock_ < 0) return;
  remove(path_);
  ::close(lock_);
}

}  // namespace rt
