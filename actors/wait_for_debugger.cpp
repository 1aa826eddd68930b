#include "rt/actors/wait_for_debugger.h"

#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>

#include "rt/runtime/wire/class_name.h"

namespace rt::detail {
namespace {

volatile std::sig_atomic_t goes_on = 0;

bool is_traced() {
  std::ifstream status("/proc/self/status");
  const std::string field = "TracerPid:";
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(field)) return std::atoi(line.c_str() + field.size()) != 0;
  return false;
}

std::string invitation(const WorkerStart& start, bool is_first) {
  const std::string pid = std::to_string(::getpid());
  const std::string who = "actor " + (start.name.empty() ? std::to_string(start.actor) : "'" + start.name + "'") +
                          " (" + wire::class_of(start.class_name) + ")";
  return "rt: " + who + (is_first ? " waits before its constructor, as RT_DEBUG says. " : " still waits. ") +
         "Attach a debugger:\n  gdb -p " + pid + "\nor let it go on:\n  kill -CONT " + pid;
}

}  // namespace

bool is_to_be_debugged(const WorkerStart& start, std::string_view wanted) {
  if (wanted.empty()) return false;
  const std::string name = wire::class_of(start.class_name);
  return start.name == wanted || name == wanted || name.ends_with("::" + std::string(wanted));
}

void wait_for_debugger(const WorkerStart& start, Client& client) {
  const char* const wanted = std::getenv("RT_DEBUG");
  if (!wanted || !is_to_be_debugged(start, wanted)) return;
  constexpr std::chrono::seconds kAgain{10};
  constexpr int kLookMs = 50;
#ifdef PR_SET_PTRACER
  ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);  // where only a parent may trace otherwise
#endif
  const auto before = std::signal(SIGCONT, [](int) { goes_on = 1; });
  auto said = std::chrono::steady_clock::now();
  client.say(invitation(start, /*is_first=*/true));
  while (goes_on == 0 && !is_traced()) {
    ::poll(nullptr, 0, kLookMs);
    if (std::chrono::steady_clock::now() - said < kAgain) continue;
    said = std::chrono::steady_clock::now();
    client.say(invitation(start, /*is_first=*/false));
  }
  std::signal(SIGCONT, before == SIG_ERR ? SIG_DFL : before);
}

}  // namespace rt::detail
