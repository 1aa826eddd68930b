#include "rt/actors/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "rt/runtime/base/id.h"
#include "rt/runtime/base/lock_holder.h"
#include "rt/runtime/base/log.h"
#include "rt/runtime/base/process.h"

namespace rt {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kIdLength = 16;
// The longest name of a socket in a run folder: "/ID/actors/ACTOR.INCARNATION".
constexpr std::size_t kLongestBelow = 1 + kIdLength + sizeof("/actors/18446744073709551615.4294967295") - 1;
constexpr std::size_t kLongestSocket = sizeof(sockaddr_un::sun_path) - 1;

std::string folder_of_user() {
  const char* chosen = std::getenv("RT_RUN_DIR");
  const std::string above = chosen && *chosen ? chosen : "/tmp";
  return above + "/rt-" + std::to_string(::geteuid());
}

Result<std::string> users_folder() {
  const std::string folder = folder_of_user();
  if (folder.size() + kLongestBelow > kLongestSocket)
    return Error{Code::Invalid, "RT_RUN_DIR is too long: sockets below " + folder + " may have paths of " +
                                    std::to_string(folder.size() + kLongestBelow) + " bytes, the system allows " +
                                    std::to_string(kLongestSocket) +
                                    "; set RT_RUN_DIR to a shorter folder of this machine"};
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return system_error("cannot make " + folder + " (RT_RUN_DIR chooses another place)", errno);
  struct stat info {};
  if (::lstat(folder.c_str(), &info) != 0) return system_error("cannot look at " + folder, errno);
  if (!S_ISDIR(info.st_mode) || info.st_uid != ::geteuid() || (info.st_mode & 077) != 0)
    return Error{Code::Refused, folder + " must be a folder of this user with mode 0700; remove it, or set RT_RUN_DIR"};
  return folder;
}

Result<Fd> open_locked(const std::string& path, int open_flags, int lock_flags) {
  RT_TRY(lock, open_file(path, open_flags));
  int rc;
  do rc = ::flock(lock.get(), LOCK_EX | lock_flags);
  while (rc != 0 && errno == EINTR);
  if (rc != 0) return system_error("cannot lock " + path, errno);
  return lock;
}

// Under the parent's lock: a folder without a lock of its own was left by a start that died in the making.
void sweep_dead_runs(const std::string& parent) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(parent, error)) {
    if (!entry.is_directory(error)) continue;
    const std::string folder = entry.path().string();
    const auto lock = open_locked(folder + "/lock", O_RDWR, LOCK_NB);
    if (!lock && lock.error().code != Code::NotFound) continue;  // its driver lives
    const auto killed = sweep_run(entry.path().filename().string());
    if (killed)
      (void)remove_tree(folder);  // one that stays is swept by the next start
    else
      log::warning("what is left of the run {}: {}", folder, killed.error().message);
  }
}

}  // namespace

// Without a try of the lock itself: that would refuse it, for that moment, to the driver.
Result<std::vector<LivingRun>> living_runs() {
  std::vector<LivingRun> runs;
  const std::string parent = folder_of_user();
  std::error_code error;
  fs::directory_iterator entries(parent, error);
  if (error == std::errc::no_such_file_or_directory) return runs;
  if (error) return system_error("cannot look into " + parent, error.value());
  for (const auto& entry : entries)
    if (const auto driver = lock_holder(entry.path() / "lock"))
      runs.push_back({entry.path().filename().string(), entry.path().string(), *driver});
  std::sort(runs.begin(), runs.end(), [](const LivingRun& a, const LivingRun& b) { return a.id < b.id; });
  return runs;
}

Result<int> sweep_run(const std::string& id) { return kill_marked("RT_RUN=" + id, std::chrono::seconds(5)); }

Result<RunFolder> RunFolder::create() {
  RT_TRY(parent, users_folder());
  RT_TRY(turn, open_locked(parent, O_RDONLY | O_DIRECTORY, 0));
  sweep_dead_runs(parent);
  RT_TRY(random, random_id());
  const std::string id = random.substr(0, kIdLength);
  const std::string path = parent + "/" + id;
  RT_CHECK(make_folders(path));
  auto lock = open_locked(path + "/lock", O_RDWR | O_CREAT, LOCK_NB);
  if (lock) return RunFolder(path, id, *std::move(lock));
  (void)remove_tree(path);
  return lock.error();
}

RunFolder::~RunFolder() {
  if (lock_) (void)remove_tree(path_);  // still locked; what stays is swept by the next start
}

}  // namespace rt
