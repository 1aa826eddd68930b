#include "rt/runtime/base/log.h"

#include <fcntl.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <memory>

#include "rt/runtime/base/files.h"

namespace rt::log {
namespace {

constexpr const char* kPattern = "%Y-%m-%d %H:%M:%S.%e [%P] %l: %v";
constexpr const char* kPatternWithRole = "%Y-%m-%d %H:%M:%S.%e [%P %n] %l: %v";
constexpr std::string_view kLevels[] = {"debug", "info", "warning", "error", "off"};

spdlog::level::level_enum spdlog_level(Level level) {
  switch (level) {
    case Level::Debug: return spdlog::level::debug;
    case Level::Info: return spdlog::level::info;
    case Level::Warning: return spdlog::level::warn;
    case Level::Error: return spdlog::level::err;
    case Level::Off: return spdlog::level::off;
  }
  return spdlog::level::off;
}

// The process's log. Until `start`: stderr, warnings and errors.
std::atomic<std::shared_ptr<spdlog::logger>>& the_log() {
  static std::atomic<std::shared_ptr<spdlog::logger>> log = [] {
    auto first = std::make_shared<spdlog::logger>("", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    first->set_level(spdlog::level::warn);
    first->set_pattern(kPattern);
    return first;
  }();
  return log;
}
std::shared_ptr<spdlog::logger> logger() { return the_log().load(); }

}  // namespace

Result<Level> parse_level(std::string_view text) {
  for (std::size_t i = 0; i < std::size(kLevels); ++i) {
    if (text == kLevels[i]) return static_cast<Level>(i);
  }
  return Error{Code::Invalid, fmt::format("'{}' is no log level: write one of {}", text, fmt::join(kLevels, ", "))};
}

Status start(const Options& options) {
  spdlog::sink_ptr sink;
  if (options.file.empty()) {
    sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  } else {
    RT_CHECK(open_file(options.file, O_WRONLY | O_APPEND | O_CREAT));  // says why it can't be written; spdlog throws
    sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(options.file.string());
  }
  auto started = std::make_shared<spdlog::logger>(options.role, std::move(sink));
  started->set_level(spdlog_level(options.level));
  started->flush_on(spdlog::level::trace);
  started->set_pattern(options.role.empty() ? kPattern : kPatternWithRole);
  the_log().store(std::move(started));
  return Unit{};
}

bool is_written(Level level) { return logger()->should_log(spdlog_level(level)); }

void write_as(const std::string& role, Level level, std::string_view message) {
  spdlog::logger log(role, std::make_shared<spdlog::sinks::stderr_sink_mt>());
  log.set_level(spdlog::level::info);
  log.set_pattern(kPatternWithRole);
  log.log(spdlog_level(level), spdlog::string_view_t(message.data(), message.size()));
}

void write(Level level, std::string_view message) {
  logger()->log(spdlog_level(level), spdlog::string_view_t(message.data(), message.size()));
}

}  // namespace rt::log
