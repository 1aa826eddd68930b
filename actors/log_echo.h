#pragma once
// LogEcho: the lines of actors' logs, as they are written, on this process's stderr, each with who wrote it in front:
//   [counter 4711] 2026-01-31 12:00:00.123 [4711 counter] info: begins
//
// Owner: rt::Cluster, where it is asked for (ConnectOptions::echo_logs). Threads: one of its own reads and writes;
// `follow` any. Lines are written whole. Bounded: of a log that is more than kMostBehind ahead of what could be written
// all but the last kKept bytes are left out, and a line says how many lines that were.

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "rt/runtime/base/files.h"

namespace rt {

class LogEcho {
 public:
  static constexpr std::uint64_t kMostBehind = std::uint64_t{4} << 20, kKept = std::uint64_t{64} << 10;  // bytes

  // One incarnation's part of a log.
  struct Part {
    std::string path;
    std::string name;         // in front of its lines
    std::uint64_t begin = 0;  // bytes; what stood there before is another's, or was echoed
  };

  static Result<std::unique_ptr<LogEcho>> start(int to = 2);
  ~LogEcho();

  void follow(Part part);
  void finish();  // all that is in the logs now is written when it returns; nothing follows

 private:
  struct Log {
    std::uint64_t read = 0;  // bytes
    std::string line;        // its beginning, without an end yet
    std::deque<Part> parts;  // the one being read, then those to come
  };

  LogEcho(Fd changes, Fd wake, int to) : changes_(std::move(changes)), wake_(std::move(wake)), to_(to) {}
  void run();
  bool wait();
  std::set<std::string> changed();
  void take_new();
  void read(Log& log, std::uint64_t size);
  void leave_out(Log& log, int file, std::uint64_t until);
  void take(Log& log, std::string_view bytes);
  void end_part(Log& log);
  void write(const std::string& text) const;

  const Fd changes_;  // inotify's
  const Fd wake_;
  const int to_;
  std::map<int, std::string> paths_;  // by inotify's number
  std::map<std::string, Log> logs_;   // by path
  std::set<std::string> unread_;      // those that are followed anew
  std::mutex mutex_;                  // guards all below
  std::vector<Part> new_;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace rt
