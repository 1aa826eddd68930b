#include "rt/actors/self.h"

#include "rt/actors/worker_context.h"
#include "rt/runtime/base/log.h"

namespace rt {

using detail::worker_context;

namespace {

void say(log::Level level, std::string_view message) {
  if (worker_context().is_inline) return log::write_as(worker_context().words(), level, message);
  if (log::is_written(level)) log::write(level, message);
}

}  // namespace

void Logger::debug(std::string_view message) const { say(log::Level::Debug, message); }
void Logger::info(std::string_view message) const { say(log::Level::Info, message); }
void Logger::warning(std::string_view message) const { say(log::Level::Warning, message); }
void Logger::error(std::string_view message) const { say(log::Level::Error, message); }

ActorId Self::id() const { return worker_context().actor; }
std::uint32_t Self::incarnation() const { return worker_context().incarnation; }
std::string_view Self::name() const { return worker_context().name; }
std::string_view Self::name_space() const { return worker_context().name_space; }
std::uint32_t Self::node() const { return client_->node(); }
std::span<const std::string> Self::gpus() const { return worker_context().gpus; }
std::span<const int> Self::cpuset() const { return worker_context().cpuset; }
std::uint32_t Self::threads() const { return worker_context().threads; }
std::stop_token Self::stop_token() const { return worker_context().stop.get_token(); }

const Logger& Self::logger() const {
  static constexpr Logger logger;  // it has no state: the process's one log is log.h's
  return logger;
}

void Self::leave() { worker_context().leave(); }

std::shared_ptr<Self> detail::make_self(WorkerContext& context) {
  return std::shared_ptr<Self>(new Self(context.client, &context.program));
}

Self& self() {
  if (!worker_context().self)
    throw Exception({Code::Invalid,
                     "rt::self() was asked in a process that is no actor's; it is for an actor's constructor and "
                     "methods"});
  return *worker_context().self;
}

}  // namespace rt
