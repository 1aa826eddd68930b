#pragma once
// Log: what a process of rt says about its own work, one line a message, to stderr or to a file:
//   2026-01-31 12:00:00.123 [4711 head] warning: node 3 has been silent for 2 s
//
// One log a process, as there is one stderr: `start` sets it up first thing in `main`. Before it,
// warnings and errors go to stderr. Messages are written from any thread, whole lines, at once (a killed process loses
// none). After a fork the child's lines carry its own pid; it calls `start` again for its own role or file.

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "rt/runtime/base/result.h"

namespace rt::log {

enum class Level { Debug, Info, Warning, Error, Off };

// "debug", "info", "warning", "error" or "off".
Result<Level> parse_level(std::string_view text);

struct Options {
  Level level = Level::Info;   // less than this isn't written
  std::filesystem::path file;  // appended to; its folder must be there. Empty: stderr
  std::string role;            // what this process is: head, node, rank 3 of trial 7
};

// NotFound, System: the file can't be opened; the log before stays.
Status start(const Options& options);

bool is_written(Level level);
void write(Level level, std::string_view message);
// To stderr, in the name of one of several whose process this is; from Info on.
void write_as(const std::string& role, Level level, std::string_view message);

template <class... Args>
void debug(fmt::format_string<Args...> format, Args&&... args) {
  if (is_written(Level::Debug)) write(Level::Debug, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void info(fmt::format_string<Args...> format, Args&&... args) {
  if (is_written(Level::Info)) write(Level::Info, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void warning(fmt::format_string<Args...> format, Args&&... args) {
  if (is_written(Level::Warning)) write(Level::Warning, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void error(fmt::format_string<Args...> format, Args&&... args) {
  if (is_written(Level::Error)) write(Level::Error, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace rt::log
