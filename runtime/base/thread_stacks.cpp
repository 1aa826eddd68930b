#include "rt/runtime/base/thread_stacks.h"

#include <dirent.h>
#include <execinfo.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>

namespace rt {
namespace {

// One thread's answer. The word is the request's number and how far it has come: a handler that comes late finds
// another number, and leaves it alone.
struct Slot {
  enum : std::uint64_t { Asked, Writing, Written, GivenUp };
  static std::uint64_t word_of(std::uint64_t request, std::uint64_t state) { return request << 2 | state; }
  std::atomic<std::uint64_t> word{0};
  std::array<void*, kMostFrames> frames;
  int count = 0;
};

std::array<Slot, kMostThreads> slots;  // there before any signal
std::mutex one_at_a_time;
std::uint64_t requests = 0;

constexpr std::uint64_t kSlotBits = 8;
static_assert(kMostThreads == 1 << kSlotBits);
constexpr int kOwnFrames = 2;  // the handler's, and the kernel's way back from it

[[gnu::noinline]] void on_signal(int, siginfo_t* info, void*) {
  if (info->si_code != SI_QUEUE || info->si_pid != ::getpid()) return;
  const int error = errno;
  const auto value = reinterpret_cast<std::uint64_t>(info->si_value.sival_ptr);
  Slot& slot = slots[value & (kMostThreads - 1)];
  const std::uint64_t request = value >> kSlotBits;
  std::uint64_t asked = Slot::word_of(request, Slot::Asked);
  if (slot.word.compare_exchange_strong(asked, Slot::word_of(request, Slot::Writing))) {
    slot.count = ::backtrace(slot.frames.data(), static_cast<int>(slot.frames.size()));
    slot.word.store(Slot::word_of(request, Slot::Written), std::memory_order_release);
  }
  errno = error;
}

Status take_signal() {
  struct sigaction now {};
  ::sigaction(SIGURG, nullptr, &now);
  const bool is_ours = (now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == &on_signal;
  if (is_ours) return Unit{};
  if ((now.sa_flags & SA_SIGINFO) != 0 || (now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN))
    return Error{Code::Refused,
                 "this program handles SIGURG itself, by which its threads would be asked for their stacks; use gdb"};
  struct sigaction ours {};
  ours.sa_sigaction = &on_signal;
  ours.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  ::sigaction(SIGURG, &ours, nullptr);
  return Unit{};
}

std::vector<pid_t> threads() {
  std::vector<pid_t> all;
  DIR* const folder = ::opendir("/proc/self/task");
  if (!folder) return all;
  while (const dirent* const entry = ::readdir(folder))
    if (entry->d_name[0] != '.') all.push_back(std::atoi(entry->d_name));
  ::closedir(folder);
  return all;
}

std::string name_of(pid_t thread) {
  std::ifstream in("/proc/self/task/" + std::to_string(thread) + "/comm");
  std::string name;
  std::getline(in, name);
  return name;
}

bool ask(pid_t thread, std::size_t slot, std::uint64_t request) {
  slots[slot].word.store(Slot::word_of(request, Slot::Asked), std::memory_order_release);
  siginfo_t info{};
  info.si_signo = SIGURG;
  info.si_code = SI_QUEUE;
  info.si_pid = ::getpid();
  info.si_uid = ::getuid();
  info.si_value.sival_ptr = reinterpret_cast<void*>(request << kSlotBits | slot);
  return ::syscall(SYS_rt_tgsigqueueinfo, ::getpid(), thread, SIGURG, &info) == 0;
}

// False: it won't, and what it says later is dropped.
bool await(std::size_t slot, std::uint64_t request, std::chrono::steady_clock::time_point until) {
  std::atomic<std::uint64_t>& word = slots[slot].word;
  while (word.load(std::memory_order_acquire) != Slot::word_of(request, Slot::Written)) {
    std::uint64_t asked = Slot::word_of(request, Slot::Asked);
    if (std::chrono::steady_clock::now() > until &&
        word.compare_exchange_strong(asked, Slot::word_of(request, Slot::GivenUp)))
      return false;  // one that writes is nearly done
    ::poll(nullptr, 0, 1);
  }
  return true;
}

// A return address may be the next function's: what called lies before it. A signal interrupts at its own.
std::vector<std::uint64_t> calls_of(void* const* frames, int count, int skip) {
  std::vector<std::uint64_t> addresses;
  for (int i = skip; i < count; ++i) addresses.push_back(reinterpret_cast<std::uint64_t>(frames[i]) - 1);
  return addresses;
}
std::vector<std::uint64_t> interrupted_calls_of(const Slot& slot) {
  auto addresses = calls_of(slot.frames.data(), slot.count, kOwnFrames);
  if (!addresses.empty()) ++addresses.front();
  return addresses;
}

std::vector<std::uint64_t> own_calls() {
  std::array<void*, kMostFrames> frames;
  return calls_of(frames.data(), ::backtrace(frames.data(), static_cast<int>(frames.size())), 1);
}

// Asks those that have said nothing yet, or too little to be true. False: there is none.
bool ask_all(std::vector<ThreadStack>& stacks, std::chrono::milliseconds limit) {
  const std::uint64_t request = ++requests;
  const auto until = std::chrono::steady_clock::now() + limit;
  std::vector<std::size_t> asked;
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    if (stacks[i].addresses.size() > 1 || !stacks[i].problem.empty()) continue;
    if (ask(static_cast<pid_t>(stacks[i].thread), i, request))
      asked.push_back(i);
    else
      stacks[i].problem = "it has just ended";
  }
  for (const std::size_t i : asked) {
    if (await(i, request, until))
      stacks[i].addresses = interrupted_calls_of(slots[i]);
    else
      stacks[i].problem =
          "it did not answer within " + std::to_string(limit.count()) + " ms: it blocks SIGURG, or waits in the kernel";
  }
  return !asked.empty();
}

}  // namespace

// The first backtrace loads a library and allocates.
void prepare_thread_stacks() {
  static const bool is_loaded = [] {
    void* frame = nullptr;
    return ::backtrace(&frame, 1) >= 0;
  }();
  (void)is_loaded;
}

Result<std::vector<ThreadStack>> thread_stacks(std::chrono::milliseconds limit) {
  const std::lock_guard lock(one_at_a_time);
  prepare_thread_stacks();
  RT_CHECK(take_signal());
  const auto own = static_cast<pid_t>(::syscall(SYS_gettid));
  std::vector<ThreadStack> stacks;
  for (const pid_t thread : threads()) {
    if (stacks.size() == kMostThreads) break;
    stacks.push_back({.thread = thread, .name = name_of(thread)});
    if (thread == own) stacks.back().addresses = own_calls();
  }
  // One that is just being linked to a library's function has no stack that can be told; it is soon out of that.
  constexpr int kMostRounds = 8;
  for (int round = 0; round < kMostRounds; ++round)
    if (!ask_all(stacks, limit)) break;
  return stacks;
}

}  // namespace rt
