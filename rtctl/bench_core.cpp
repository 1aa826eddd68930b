#include "rt/rtctl/bench_core.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <optional>
#include <thread>
#include <vector>

#include "rt/actors/cluster_parts.h"
#include "rt/rtctl/commands.h"
#include "rt/rtctl/figure.h"
#include "rt/rtctl/find_program.h"
#include "rt/rtctl/print.h"
#include "rt/runtime/net/futex.h"
#include "rt/runtime/net/shared_memory.h"

class BenchEcho {
 public:
  int echo(int value) { return value; }
  void take(int value) { sum_ += value; }
  long sum() const { return sum_; }

 private:
  long sum_ = 0;
};

// Calls as fast as it can, a thousand under way, the actors in turn.
class BenchCaller {
 public:
  void flood(const std::vector<rt::Actor<BenchEcho>>& actors, int count) {
    std::vector<std::optional<rt::Future<int>>> futures(1000);
    for (int i = 0; i < count; ++i) {
      auto& slot = futures[static_cast<std::size_t>(i) % futures.size()];
      if (slot) slot->get();
      slot = actors[static_cast<std::size_t>(i) % actors.size()].call<&BenchEcho::echo>(i);
    }
    for (auto& slot : futures)
      if (slot) slot->get();
  }
};

namespace rt {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kIdle = std::chrono::milliseconds(1);

// Microseconds of a round trip, the median.
template <class RoundTrip>
double round_trip_us(int rounds, bool is_cold, RoundTrip&& round_trip) {
  std::vector<double> times;
  for (int i = 0; i < rounds; ++i) {
    if (is_cold) std::this_thread::sleep_for(kIdle);
    const auto begin = Clock::now();
    round_trip();
    times.push_back(1e6 * seconds_since(begin));
  }
  return median(std::move(times));
}

// --- the machine's raw bounds: two words in shared memory -----------------------------------------------------------

struct Words {
  alignas(64) std::atomic<std::uint32_t> there;
  alignas(64) std::atomic<std::uint32_t> back;
};

void spin_until(std::atomic<std::uint32_t>& word, std::uint32_t value) {
  while (word.load(std::memory_order_acquire) != value) {
  }
}
void sleep_until(std::atomic<std::uint32_t>& word, std::uint32_t value) {
  for (std::uint32_t seen; (seen = word.load()) != value;) futex_wait(word, seen, std::chrono::seconds(1));
}

// Another process that answers each change of a word by another one's, by spinning or by a futex.
class BarePeer {
 public:
  BarePeer(int rounds, bool spins) : spins_(spins) {
    words_->there = words_->back = 0;
    peer_ = ::fork();
    if (peer_ != 0) return;
    for (std::uint32_t i = 1; i <= static_cast<std::uint32_t>(rounds); ++i) {
      wait(words_->there, i);
      store(words_->back, i);
    }
    ::_exit(0);
  }
  BarePeer(const BarePeer&) = delete;
  BarePeer& operator=(const BarePeer&) = delete;
  ~BarePeer() { ::waitpid(peer_, nullptr, 0); }

  void round_trip() {
    store(words_->there, ++round_);
    wait(words_->back, round_);
  }

 private:
  void wait(std::atomic<std::uint32_t>& word, std::uint32_t value) const {
    spins_ ? spin_until(word, value) : sleep_until(word, value);
  }
  void store(std::atomic<std::uint32_t>& word, std::uint32_t value) const {
    word.store(value, std::memory_order_seq_cst);
    if (!spins_) futex_wake(word);
  }

  const bool spins_;
  const Mapping mapping_ = map_shared(make_shared_memory("rt-bench", 4096).get().get(), 0, 4096).get();
  Words* const words_ = reinterpret_cast<Words*>(mapping_.data());
  std::uint32_t round_ = 0;
  pid_t peer_ = 0;
};

// Processes that do nothing but use a core each.
class BusyProcesses {
 public:
  explicit BusyProcesses(int count) {
    for (int i = 0; i < count; ++i) {
      const pid_t pid = ::fork();
      if (pid == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (volatile unsigned turns = 0;;) turns = turns + 1;
      }
      pids_.push_back(pid);
    }
  }
  BusyProcesses(const BusyProcesses&) = delete;
  BusyProcesses& operator=(const BusyProcesses&) = delete;
  ~BusyProcesses() {
    for (const pid_t pid : pids_) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
  }

 private:
  std::vector<pid_t> pids_;
};

// --- the figures ----------------------------------------------------------------------------------------------------

class CoreBench {
 public:
  CoreBench(const BenchCoreOptions& options, Cluster cluster) : options_(options), cluster_(std::move(cluster)) {}

  void run() {
    if (wants("core.call_sync_hot_p50")) call_sync_hot();
    if (wants("core.call_sync_cold_p50")) call_sync_cold();
    if (wants("core.call_sync_busy")) call_sync_busy();
    if (wants("core.call_async")) call_async();
    if (wants("core.call_async_2x2")) call_async_2x2();
    if (wants("core.send")) send();
    if (wants("core.actor_create")) actor_create();
  }

 private:
  bool wants(const char* name) const { return options_.only.empty() || options_.only == name; }
  int rounds(int full) const { return options_.quick ? full / 10 : full; }

  Actor<BenchEcho> warm_actor() {
    auto actor = cluster_.spawn<BenchEcho>();
    for (int i = 0; i < 1000; ++i) actor.call<&BenchEcho::echo>(i).get();
    return actor;
  }

  void call_sync_hot() {
    const int count = rounds(500'000);
    BarePeer bare(count, /*spins=*/true);
    const double limit = round_trip_us(count, false, [&] { bare.round_trip(); });
    const auto actor = warm_actor();
    const double us = round_trip_us(count, false, [&] { actor.call<&BenchEcho::echo>(1).get(); });
    print_figure("core.call_sync_hot_p50", us, "us", limit);
    actor.kill();
  }

  // In turn with its limit: where the kernel wakes a process decides, and changes.
  void call_sync_cold() {
    const auto actor = warm_actor();
    const int count = rounds(3'000);
    BarePeer bare(count, /*spins=*/false);
    std::vector<double> calls, limits;
    for (int i = 0; i < count; ++i) {
      limits.push_back(round_trip_us(1, true, [&] { bare.round_trip(); }));
      calls.push_back(round_trip_us(1, true, [&] { actor.call<&BenchEcho::echo>(1).get(); }));
    }
    print_figure("core.call_sync_cold_p50", median(std::move(calls)), "us", median(std::move(limits)));
    actor.kill();
  }

  // For seconds: in a short run the two sides may by luck share no core with the others.
  void call_sync_busy() {
    const auto actor = warm_actor();
    const BusyProcesses busy(2);
    const double limit = options_.quick ? 1 : 5;
    const auto begin = Clock::now();
    int count = 0;
    for (; seconds_since(begin) < limit; ++count) actor.call<&BenchEcho::echo>(1).get();
    print_figure("core.call_sync_busy", count / seconds_since(begin), "1/s");
    actor.kill();
  }

  // One caller, one actor, a thousand calls under way.
  void call_async() {
    const auto actor = warm_actor();
    const int count = rounds(2'000'000);
    const auto begin = Clock::now();
    BenchCaller().flood({actor}, count);
    print_figure("core.call_async", count / seconds_since(begin), "1/s");
    actor.kill();
  }

  // Two callers, each calling both of two actors: four processes.
  void call_async_2x2() {
    const std::vector<Actor<BenchEcho>> actors{warm_actor(), warm_actor()};
    const std::vector<Actor<BenchCaller>> callers{cluster_.spawn<BenchCaller>(), cluster_.spawn<BenchCaller>()};
    const int count = rounds(2'000'000);
    for (const auto& caller : callers) caller.call<&BenchCaller::flood>(actors, 1000).get();
    const auto begin = Clock::now();
    std::vector<Future<Unit>> done;
    for (const auto& caller : callers) done.push_back(caller.call<&BenchCaller::flood>(actors, count));
    for (const auto& one : done) one.get();
    print_figure("core.call_async_2x2", 2 * count / seconds_since(begin), "1/s");
    for (const auto& actor : actors) actor.kill();
    for (const auto& caller : callers) caller.kill();
  }

  void send() {
    const auto actor = warm_actor();
    const int count = rounds(5'000'000);
    const auto begin = Clock::now();
    for (int i = 0; i < count; ++i) (void)actor.send<&BenchEcho::take>(1);
    const long sum = actor.call<&BenchEcho::sum>().get();
    print_figure("core.send", static_cast<double>(sum) / seconds_since(begin), "1/s");
    actor.kill();
  }

  void actor_create() {
    const int count = rounds(500);
    cluster_.spawn<BenchEcho>().call<&BenchEcho::echo>(1).get();  // its program is loaded
    std::vector<double> times;
    const auto begin = Clock::now();
    for (int i = 0; i < count; ++i) {
      const auto one = Clock::now();
      const auto actor = cluster_.spawn<BenchEcho>();
      actor.call<&BenchEcho::echo>(1).get();
      times.push_back(1e3 * seconds_since(one));
      actor.kill();
    }
    print_figure("core.actor_create", count / seconds_since(begin), "1/s");
    print_figure("core.actor_create_p50", median(std::move(times)), "ms");
  }

  const BenchCoreOptions options_;
  Cluster cluster_;
};

}  // namespace

int bench_core(const BenchCoreOptions& options) {
  auto parts = Cluster::Parts::start({}, (own_folder() / "rtctl").string());
  if (!parts) return complain(parts.error().message, kFailed);
  CoreBench(options, Cluster(*std::move(parts))).run();
  return with_output_written(0);
}

}  // namespace rt
