#include "rt/actors/program/program_rank.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <mutex>
#include <set>

#include "rt/actors/program/child_process.h"
#include "rt/actors/program/report_file.h"
#include "rt/actors/program/report_reader.h"
#include "rt/runtime/base/files.h"
#include "rt/runtime/base/log_tail.h"
#include "rt/runtime/base/process_tree.h"

namespace rt {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kKillDeadline{10'000};  // freeing much memory takes the kernel a while

// Either descriptor is readable, or `timeout` (-1: none) is over.
void wait_for(int a, int b, int timeout_ms) {
  pollfd waits[2] = {{a, POLLIN, 0}, {b, POLLIN, 0}};  // a descriptor of -1 is passed over
  ::poll(waits, 2, timeout_ms);
}

int milliseconds_until(Clock::time_point time) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(time - Clock::now()).count();
  return static_cast<int>(std::clamp<decltype(left)>(left, 0, 3'600'000));
}

std::vector<std::string> own_environment() {
  std::vector<std::string> assignments;
  for (char** at = environ; *at; ++at) assignments.emplace_back(*at);
  return assignments;
}

Status make_files(const ProgramStart& start, const ProgramFiles& files) {
  for (const fs::path& folder : {files.report.parent_path(), files.checkpoints, start.log.parent_path()})
    RT_CHECK(make_folders(folder));
  RT_CHECK(remove_tree(files.stop));
  return write_file_atomic(files.parameters, start.parameters);
}

}  // namespace

// The program from its start to its end. `mutex_` guards all below it; nobody waits while holding it.
class ProgramRank::Running {
 public:
  static Result<std::unique_ptr<Running>> start(ProgramStart start) {
    const ProgramFiles files = program_files(start);
    RT_CHECK(make_files(start, files));
    RT_TRY(reports, ReportFile::create(files.report));
    RT_CHECK(adopt_orphans());
    const std::set<pid_t> others = children();
    std::error_code missing;
    const std::uintmax_t log_size = fs::file_size(start.log, missing);
    RT_TRY(child, ChildProcess::start({start.argv, program_environment(start, own_environment()), start.log.string()}));
    return std::make_unique<Running>(std::move(start), std::move(reports), std::move(child), others,
                                     missing ? 0 : log_size);
  }

  Running(ProgramStart start, ReportFile reports, ChildProcess child, std::set<pid_t> others, std::uint64_t log_begin)
      : start_(std::move(start)),
        files_(program_files(start_)),
        others_(std::move(others)),
        log_begin_(log_begin),
        child_(std::move(child)),
        reports_(std::move(reports)),
        reader_(start_.restore.empty() ? std::nullopt : std::optional(start_.step)),
        last_step_(start_.step) {}

  ~Running() {
    const std::lock_guard lock(mutex_);
    if (const Status killed = kill_tree(); !killed) note("rt: " + killed.error().message + "\n");
  }

  Result<ProgramReport> next_report() {
    while (true) {
      {
        const std::lock_guard lock(mutex_);
        RT_TRY(over, look_for_end());
        RT_TRY(report, read_report(over));
        if (report) return *std::move(report);
        if (over) return ending();
      }
      const bool reads = start_.rank == 0;
      const bool must_look_again = reads && reports_.fd() < 0;
      wait_for(child_.end(), reads ? reports_.fd() : -1,
               must_look_again ? static_cast<int>(ReportFile::kLookAgain.count()) : -1);
    }
  }

  Status stop(StopDeadlines deadlines) {
    RT_TRY(over, begin_stop());
    if (!over) {
      const Status asked = write_file_atomic(files_.stop, "");
      if (asked) over = wait_until(Clock::now() + deadlines.save);
      if (!over) {
        terminate();
        wait_until(Clock::now() + deadlines.terminate);
      }
    }
    const std::lock_guard lock(mutex_);
    return kill_tree();
  }

 private:
  // Whether the program has ended by itself, so that there is nothing to stop.
  Result<bool> begin_stop() {
    const std::lock_guard lock(mutex_);
    RT_TRY(over, look_for_end());
    if (!over) stopped_ = true;
    return over;
  }

  void terminate() {
    const std::lock_guard lock(mutex_);
    if (!end_) ::kill(-child_.pid(), SIGTERM);  // its process group; not yet reaped, so the id is its own
  }

  // Whether the program has ended by then.
  bool wait_until(Clock::time_point deadline) {
    while (true) {
      pollfd wait{child_.end(), POLLIN, 0};
      if (::poll(&wait, 1, milliseconds_until(deadline)) > 0) return true;
      if (Clock::now() >= deadline) return false;
    }
  }

  // Notices the program's end, and ends what it left behind.
  Result<bool> look_for_end() {
    if (end_) return true;
    auto others_and_child = others_;
    others_and_child.insert(child_.pid());
    reap_children(others_and_child);
    const auto state = child_.try_wait();
    if (!state) return false;
    RT_CHECK(kill_tree());
    return true;
  }

  Status kill_tree() {
    if (end_) return Unit{};
    const auto state = child_.try_wait();
    RT_CHECK(kill_descendants(others_, kKillDeadline));
    end_ = state.value_or(ExitState{.signal = SIGKILL});
    return Unit{};
  }

  // The next report that is there now. `over`: no more will be written.
  Result<std::optional<ProgramReport>> read_report(bool over) {
    if (start_.rank != 0) return std::optional<ProgramReport>();
    while (true) {
      auto line = reader_.next();
      note(reader_.take_complaint());
      if (line) return std::optional(remember(*std::move(line)));
      RT_TRY(bytes, reports_.read());
      if (!bytes.empty()) {
        reader_.append(bytes);
      } else if (over && !finished_reading_) {
        finished_reading_ = true;
        reader_.finish();
      } else {
        return std::optional<ProgramReport>();
      }
    }
  }

  ProgramReport remember(ReportLine line) {
    ProgramReport report{.step = line.step, .metrics = std::move(line.metrics)};
    if (!line.checkpoint.empty()) take_checkpoint(line, report);
    last_step_ = line.step;
    return report;
  }

  // By its plain name: a checkpoint inside of another would go when that one is dropped.
  void take_checkpoint(const ReportLine& line, ProgramReport& report) {
    const fs::path home = files_.checkpoints.lexically_normal();
    fs::path folder = (home / line.checkpoint).lexically_normal();
    if (!folder.has_filename()) folder = folder.parent_path();  // written with a slash behind it
    std::error_code ignored;
    const bool is_plain = folder.parent_path() == home && line.checkpoint.find('\0') == std::string::npos;
    if (is_plain && fs::is_directory(fs::symlink_status(folder, ignored))) {
      report.checkpoint = folder;
      return;
    }
    note("rt: step " + std::to_string(line.step) + " names the checkpoint '" + line.checkpoint +
         "', which is no folder in RT_CHECKPOINT_DIR (a folder inside of another, or a link, is none); the report " +
         "counts without it. Name the folder itself, e.g. step-" + std::to_string(line.step) + "\n");
  }

  Result<ProgramReport> ending() const {
    const std::string who = "'" + start_.argv[0] + "' (trial " + start_.trial_id + ", rank " +
                            std::to_string(start_.rank) + ", generation " + std::to_string(start_.generation) + ")";
    if (stopped_) return Error{Code::Unavailable, who + " was stopped on request"};
    if (*end_ == ExitState{}) return ProgramReport{.step = last_step_, .finished = true};
    return Error{says_that_the_disk_is_full() ? Code::NoSpace : Code::Failed,
                 who + " ended with " + to_string(*end_) + "; the last lines of " + start_.log.string() + ":\n" +
                     last_lines(start_.log)};
  }

  // Whether errno's text for that is in what this program printed last: a program has no other way to say it.
  bool says_that_the_disk_is_full() const {
    constexpr std::uint64_t kLooked = 4096;  // bytes
    const auto log = open_file(start_.log, O_RDONLY);
    struct stat facts {};
    if (!log || ::fstat(log->get(), &facts) != 0) return false;
    const auto size = static_cast<std::uint64_t>(facts.st_size);
    const auto text = read_at(log->get(), kLooked, std::max(log_begin_, size - std::min(size, kLooked)), start_.log);
    const auto has = [&](const char* words) { return text && text->find(words) != std::string::npos; };
    return has("No space left on device") || has("Disk quota exceeded");
  }

  // Into the rank's log, where its user looks.
  void note(const std::string& text) const {
    if (!text.empty()) std::ofstream(start_.log, std::ios::app) << text;
  }

  const ProgramStart start_;
  const ProgramFiles files_;
  const std::set<pid_t> others_;   // this process's children from before
  const std::uint64_t log_begin_;  // where this program's own part of the log begins

  std::mutex mutex_;
  ChildProcess child_;  // end() and pid() are constant: read without the lock
  ReportFile reports_;  // so is fd()
  ReportReader reader_;
  bool finished_reading_ = false;
  bool stopped_ = false;
  std::uint64_t last_step_;
  std::optional<ExitState> end_;  // set once the whole tree is dead
};

ProgramRank::ProgramRank() = default;
ProgramRank::~ProgramRank() = default;

Status ProgramRank::start(ProgramStart start) {
  if (running_) return Error{Code::Invalid, "this rank's program was started before; a new generation is a new rank"};
  RT_TRY(running, Running::start(std::move(start)));
  running_ = std::move(running);
  return Unit{};
}

Result<ProgramReport> ProgramRank::next_report() {
  if (!running_) return Error{Code::Invalid, "next_report: start the program first"};
  return running_->next_report();
}

Status ProgramRank::stop(StopDeadlines deadlines) {
  if (!running_) return Error{Code::Invalid, "stop: start the program first"};
  return running_->stop(deadlines);
}

}  // namespace rt
