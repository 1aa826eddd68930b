#include "rt/rtctl/bench_core.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "rt/actors/cluster_parts.h"
#include "rt/actors/task.h"
#include "rt/actors/wait.h"
#include "rt/rtctl/bench_limits.h"
#include "rt/rtctl/commands.h"
#include "rt/rtctl/figure.h"
#include "rt/rtctl/find_program.h"
#include "rt/rtctl/print.h"

class BenchEcho {
 public:
  int echo(int value) { return value; }
  void take(int value) { sum_ += value; }
  long sum() const { return sum_; }
  rt::Task<int> echo_task(int value) { co_return value; }
  int pid() const { return ::getpid(); }
  void linger() { ::pause(); }
  std::size_t look(std::span<const char> bytes) {
    return static_cast<std::size_t>(std::count(bytes.begin(), bytes.begin() + 64, 'x'));
  }
  void touch(std::size_t bytes) { memory_.assign(bytes, 'x'); }

 private:
  long sum_ = 0;
  std::vector<char> memory_;
};

int bench_task(int value) { return value; }

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
    if (wants("core.coroutine_pipelined")) coroutine_pipelined();
    if (wants("core.arg_10mib")) arg_10mib();
    if (wants("core.ref_again")) ref_again();
    if (wants("core.task") || wants("core.task_sync")) task();
    if (wants("core.kill_to_error")) kill_to_error("core.kill_to_error", 0);
    if (wants("core.kill_to_error_1gib")) kill_to_error("core.kill_to_error_1gib", std::size_t{1} << 30);
    if (wants("core.kill_to_restart")) kill_to_restart();
    if (wants("core.idle_cpu") || wants("core.actor_private") || wants("core.actor_pss")) idle_actors();
    if (wants("core.actor_create") || wants("core.actor_create_p50")) actor_create();
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

  void coroutine_pipelined() {
    const auto actor = warm_actor();
    const int count = rounds(500'000);
    std::vector<std::optional<Future<int>>> futures(1000);
    const auto begin = Clock::now();
    for (int i = 0; i < count; ++i) {
      auto& slot = futures[static_cast<std::size_t>(i) % futures.size()];
      if (slot) slot->get();
      slot = actor.call<&BenchEcho::echo_task>(i);
    }
    for (auto& slot : futures)
      if (slot) slot->get();
    print_figure("core.coroutine_pipelined", count / seconds_since(begin), "1/s");
    actor.kill();
  }

  // Buffers in turn, so that neither side finds one in its cache. The limit: memcpy of such, in turn with the calls.
  void arg_10mib() {
    constexpr std::size_t kSize = 10 << 20, kBuffers = 8;
    const auto actor = warm_actor();
    const std::vector<std::vector<char>> buffers(kBuffers, std::vector<char>(kSize, 'x'));
    std::vector<char> copy(kSize);
    std::vector<double> calls, copies;
    for (std::size_t i = 0; i < static_cast<std::size_t>(rounds(100)) + 10; ++i) {
      const auto& buffer = buffers[i % kBuffers];
      auto begin = Clock::now();
      actor.call<&BenchEcho::look>(buffer).get();
      calls.push_back(seconds_since(begin));
      begin = Clock::now();
      std::memcpy(copy.data(), buffers[(i + kBuffers / 2) % kBuffers].data(), kSize);
      copies.push_back(seconds_since(begin));
    }
    const auto rate = [](std::vector<double> times) { return kSize / median(std::move(times)) / 1e9; };
    print_figure("core.arg_10mib", rate(std::move(calls)), "GB/s", rate(std::move(copies)));
    actor.kill();
  }

  // A call that is given 10 MiB which were put before.
  void ref_again() {
    const auto actor = warm_actor();
    const auto ref = cluster_.put(std::vector<char>(10 << 20, 'x'));
    const double us = round_trip_us(rounds(20'000), false, [&] { actor.call<&BenchEcho::look>(ref).get(); });
    print_figure("core.ref_again", us, "us");
    actor.kill();
  }

  // Tasks that do nothing: a thousand under way, then one at a time.
  void task() {
    const auto burst = [&](int count) {
      std::vector<std::optional<Future<int>>> futures(1000);
      for (int i = 0; i < count; ++i) {
        auto& slot = futures[static_cast<std::size_t>(i) % futures.size()];
        if (slot) slot->get();
        slot = cluster_.run<&bench_task>(i);
      }
      for (auto& slot : futures)
        if (slot) slot->get();
    };
    burst(1000);
    const int count = rounds(200'000);
    const auto begin = Clock::now();
    burst(count);
    print_figure("core.task", count / seconds_since(begin), "1/s");
    const double us = round_trip_us(rounds(20'000), false, [&] { cluster_.run<&bench_task>(1).get(); });
    print_figure("core.task_sync", 1e6 / us, "1/s");
  }

  // From SIGKILL to the error of the call under way. `touched`: bytes that the actor holds.
  void kill_to_error(const char* name, std::size_t touched) {
    std::vector<double> times;
    for (int i = 0; i < rounds(50); ++i) {
      const auto actor = cluster_.spawn<BenchEcho>();
      if (touched > 0) actor.call<&BenchEcho::touch>(touched).get();
      const int pid = actor.call<&BenchEcho::pid>().get();
      const auto call = actor.call<&BenchEcho::linger>();
      std::this_thread::sleep_for(kIdle);
      const auto begin = Clock::now();
      ::kill(pid, SIGKILL);
      (void)call.result();
      times.push_back(1e3 * seconds_since(begin));
    }
    print_figure(name, median(std::move(times)), "ms");
  }

  // From SIGKILL to the next incarnation's first answer. Each time the first restart of a crash loop.
  void kill_to_restart() {
    std::vector<double> times;
    for (int i = 0; i < rounds(50); ++i) {
      const auto actor = cluster_.spawn<BenchEcho>({.max_restarts = 1});
      const int pid = actor.call<&BenchEcho::pid>().get();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      const auto begin = Clock::now();
      ::kill(pid, SIGKILL);
      while (!actor.call<&BenchEcho::pid>().result()) {
      }
      times.push_back(1e3 * seconds_since(begin));
      actor.kill();
    }
    print_figure("core.kill_to_restart", median(std::move(times)), "ms");
  }

  // A hundred actors that do nothing: what they all use of a core with driver, agent and head, and what one holds.
  void idle_actors() {
    constexpr int kActors = 100;
    std::vector<Actor<BenchEcho>> actors;
    for (int i = 0; i < kActors; ++i) actors.push_back(cluster_.spawn<BenchEcho>());
    std::vector<int> pids;
    for (const auto& actor : actors) pids.push_back(actor.call<&BenchEcho::pid>().get());
    std::this_thread::sleep_for(std::chrono::seconds(1));
    const auto window = std::chrono::seconds(options_.quick ? 2 : 10);
    const double before = cpu_seconds_of_all();
    std::this_thread::sleep_for(window);
    print_figure("core.idle_cpu", 100 * (cpu_seconds_of_all() - before) / static_cast<double>(window.count()), "%");
    std::vector<double> dirty, pss;
    for (const int pid : pids) {
      const auto [private_dirty, proportional] = memory_of(pid);
      dirty.push_back(private_dirty);
      pss.push_back(proportional);
    }
    print_figure("core.actor_private", median(std::move(dirty)), "MB");
    print_figure("core.actor_pss", median(std::move(pss)), "MB");
    for (const auto& actor : actors) actor.kill();
  }

  // One at a time with a pause before each, so that it finds a process forked ahead; and eight at once without pause.
  void actor_create() {
    constexpr auto kPause = std::chrono::milliseconds(20);
    constexpr int kAtOnce = 8;
    cluster_.spawn<BenchEcho>().call<&BenchEcho::echo>(1).get();  // its program is loaded
    std::vector<double> times;
    for (int i = 0; i < rounds(200); ++i) {
      std::this_thread::sleep_for(kPause);
      const auto begin = Clock::now();
      const auto actor = cluster_.spawn<BenchEcho>();
      actor.call<&BenchEcho::echo>(1).get();
      times.push_back(1e3 * seconds_since(begin));
      actor.kill();
    }
    print_figure("core.actor_create_p50", median(std::move(times)), "ms");

    const int batches = rounds(200);
    const auto begin = Clock::now();
    for (int batch = 0; batch < batches; ++batch) {
      std::vector<Actor<BenchEcho>> actors;
      std::vector<Future<int>> answers;
      for (int i = 0; i < kAtOnce; ++i) actors.push_back(cluster_.spawn<BenchEcho>());
      for (const auto& actor : actors) answers.push_back(actor.call<&BenchEcho::echo>(1));
      wait_all(answers);
      for (const auto& actor : actors) actor.kill();
    }
    print_figure("core.actor_create", batches * kAtOnce / seconds_since(begin), "1/s");
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
