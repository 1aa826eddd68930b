#include "rt/actors/log_echo.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <memory>

namespace rt {
namespace {

constexpr std::size_t kLongestLine = 16 << 10;  // a longer one is written in pieces
constexpr std::size_t kChunk = 64 << 10;
// Between a write and its echo: the news that another incarnation writes there now may be on its way. And a flood is
// read in large pieces.
constexpr int kPauseMs = 20;

std::uint64_t size_of(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? static_cast<std::uint64_t>(info.st_size) : 0;
}

}  // namespace

Result<std::unique_ptr<LogEcho>> LogEcho::start(int to) {
  Fd changes(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!changes) return system_error("cannot watch the actors' logs", errno);
  Fd wake(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!wake) return system_error("cannot watch the actors' logs", errno);
  std::unique_ptr<LogEcho> echo(new LogEcho(std::move(changes), std::move(wake), to));
  echo->thread_ = std::thread([raw = echo.get()] { raw->run(); });
  return echo;
}

LogEcho::~LogEcho() { finish(); }

void LogEcho::follow(Part part) {
  {
    const std::lock_guard lock(mutex_);
    new_.push_back(std::move(part));
  }
  (void)::eventfd_write(wake_.get(), 1);
}

void LogEcho::finish() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  (void)::eventfd_write(wake_.get(), 1);
  if (thread_.joinable()) thread_.join();
}

// Who follows a part does so before it is written: so what was there before the new parts were taken is of the old
// ones.
void LogEcho::run() {
  sigset_t all;  // they are for the program's own threads; and a stream that is closed is no reason to end it
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
  bool is_over = false;
  while (!is_over) {
    is_over = wait();
    std::map<std::string, std::uint64_t> sizes;
    for (const std::string& path : changed()) sizes[path] = size_of(path);
    take_new();
    for (const auto& [path, size] : sizes) read(logs_[path], size);
  }
  for (auto& [path, log] : logs_) {
    read(log, size_of(path));
    end_part(log);
  }
}

// True: it is over.
bool LogEcho::wait() {
  std::array<pollfd, 2> news{pollfd{changes_.get(), POLLIN, 0}, pollfd{wake_.get(), POLLIN, 0}};
  (void)::poll(news.data(), news.size(), unread_.empty() ? -1 : 0);
  if (news[1].revents == 0) (void)::poll(&news[1], 1, kPauseMs);
  eventfd_t woken = 0;
  (void)::eventfd_read(wake_.get(), &woken);
  const std::lock_guard lock(mutex_);
  return is_over_;
}

std::set<std::string> LogEcho::changed() {
  std::set<std::string> paths = std::exchange(unread_, {});
  alignas(inotify_event) std::array<char, 4096> events;
  ssize_t bytes = 0;
  while ((bytes = ::read(changes_.get(), events.data(), events.size())) > 0)
    for (ssize_t at = 0; at < bytes;) {
      const auto& event = *reinterpret_cast<const inotify_event*>(events.data() + at);
      if (const auto path = paths_.find(event.wd); path != paths_.end()) paths.insert(path->second);
      at += static_cast<ssize_t>(sizeof event + event.len);
    }
  return paths;
}

// A log whose file isn't there is read once it is followed again, or at the end.
void LogEcho::take_new() {
  std::vector<Part> parts;
  {
    const std::lock_guard lock(mutex_);
    parts.swap(new_);
  }
  for (Part& part : parts) {
    const std::string path = part.path;
    Log& log = logs_[path];
    if (log.parts.empty()) log.read = part.begin;
    log.parts.push_back(std::move(part));
    if (const int number = ::inotify_add_watch(changes_.get(), path.c_str(), IN_MODIFY); number >= 0)
      paths_[number] = path;
    unread_.insert(path);
  }
}

// Up to `size`.
void LogEcho::read(Log& log, std::uint64_t size) {
  if (log.parts.empty()) return;
  const auto file = open_file(log.parts.front().path, O_RDONLY);
  if (!file) return;
  if (size < log.read) log.read = 0;  // somebody cut it off
  if (size - log.read > kMostBehind) leave_out(log, file->get(), size - kKept);
  std::array<char, kChunk> bytes;
  while (log.read < size) {
    while (log.parts.size() > 1 && log.read >= log.parts[1].begin) end_part(log);
    const std::uint64_t end = log.parts.size() > 1 ? std::min(log.parts[1].begin, size) : size;
    const ssize_t got = ::pread(file->get(), bytes.data(), std::min<std::uint64_t>(end - log.read, bytes.size()),
                                static_cast<off_t>(log.read));
    if (got <= 0) return;
    log.read += static_cast<std::uint64_t>(got);
    take(log, {bytes.data(), static_cast<std::size_t>(got)});
  }
}

// Up to the first whole line at or after `until`.
void LogEcho::leave_out(Log& log, int file, std::uint64_t until) {
  end_part(log);
  while (log.parts.size() > 1 && log.parts[1].begin <= until) log.parts.pop_front();
  std::array<char, kChunk> bytes;
  std::uint64_t lines = 0;
  while (true) {
    const ssize_t got = ::pread(file, bytes.data(), bytes.size(), static_cast<off_t>(log.read));
    if (got <= 0) break;
    const char* const end = bytes.data() + got;
    const std::uint64_t before = until > log.read ? std::min<std::uint64_t>(until - log.read, got) : 0;
    lines += static_cast<std::uint64_t>(std::count(bytes.data(), bytes.data() + before, '\n'));
    const char* const newline = std::find(static_cast<const char*>(bytes.data()) + before, end, '\n');
    log.read += static_cast<std::uint64_t>(newline == end ? got : newline + 1 - bytes.data());
    if (newline == end) continue;
    ++lines;
    break;
  }
  write("[" + log.parts.front().name + "] (" + std::to_string(lines) +
        " lines left out here: they came faster than they could be written; the whole log is " +
        log.parts.front().path + ")\n");
}

void LogEcho::take(Log& log, std::string_view bytes) {
  std::string text;
  const std::string before = "[" + log.parts.front().name + "] ";
  while (!bytes.empty()) {
    const std::size_t newline = bytes.find('\n');
    const std::size_t room = kLongestLine - log.line.size();
    const bool ends = newline != std::string_view::npos && newline <= room;
    const std::size_t length = ends ? newline : std::min(room, bytes.size());
    log.line += bytes.substr(0, length);
    bytes.remove_prefix(length + (ends ? 1 : 0));
    if (!ends && log.line.size() < kLongestLine) break;
    text += before + std::exchange(log.line, "") + "\n";
  }
  write(text);
}

// What it wrote last may have no end.
void LogEcho::end_part(Log& log) {
  if (!log.line.empty()) write("[" + log.parts.front().name + "] " + std::exchange(log.line, "") + "\n");
  if (log.parts.size() > 1 && log.read >= log.parts[1].begin) log.parts.pop_front();
}

// A stream that takes nothing any more ends the echo, never the program.
void LogEcho::write(const std::string& text) const {
  for (std::size_t written = 0; written < text.size();) {
    const ssize_t count = ::write(to_, text.data() + written, text.size() - written);
    if (count >= 0) {
      written += static_cast<std::size_t>(count);
    } else if (errno == EAGAIN) {
      pollfd room{to_, POLLOUT, 0};
      (void)::poll(&room, 1, 1000);
    } else if (errno != EINTR) {
      return;
    }
  }
}

}  // namespace rt
