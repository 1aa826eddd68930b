#include "rt/rtctl/bench_core.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
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

template <class Wait, class Store>
double bare_us(int rounds, bool is_cold, Wait wait, Store store) {
  const Fd memory = make_shared_memory("rt-bench", 4096).get();
  const Mapping mapping = map_shared(memory.get(), 0, 4096).get();
  Words& words = *reinterpret_cast<Words*>(mapping.data());
  const auto last = static_cast<std::uint32_t>(rounds);
  const pid_t peer = ::fork();
  if (peer == 0) {
    for (std::uint32_t i = 1; i <= last; ++i) {
      wait(words.there, i);
      store(words.back, i);
    }
    ::_exit(0);
  }
  std::uint32_t i = 0;
  const double us = round_trip_us(rounds, is_cold, [&] {
    store(words.there, ++i);
    wait(words.back, i);
  });
  ::waitpid(peer, nullptr, 0);
  return us;
}

double bare_spin_us(int rounds) {
  return bare_us(
      rounds, false,
      [](std::atomic<std::uint32_t>& word, std::uint32_t until) {
        while (word.load(std::memory_order_acquire) != until) {
        }
      },
      [](std::atomic<std::uint32_t>& word, std::uint32_t value) { word.store(value, std::memory_order_release); });
}

double bare_futex_us(int rounds) {
  return bare_us(
      rounds, true,
      [](std::atomic<std::uint32_t>& word, std::uint32_t until) {
        for (std::uint32_t seen; (seen = word.load()) != until;) futex_wait(word, seen, std::chrono::seconds(1));
      },
      [](std::atomic<std::uint32_t>& word, std::uint32_t value) {
        word.store(value);
        futex_wake(word);
      });
}

// --- the figures ----------------------------------------------------------------------------------------------------

class CoreBench {
 public:
  CoreBench(const BenchCoreOptions& options, Cluster cluster) : options_(options), cluster_(std::move(cluster)) {}

  void run() {
    if (wants("core.call_sync_hot_p50")) call_sync_hot();
    if (wants("core.call_sync_cold_p50")) call_sync_cold();
    if (wants("core.call_async")) call_async();
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
    const auto actor = warm_actor();
    const int count = rounds(500'000);
    const double us = round_trip_us(count, false, [&] { actor.call<&BenchEcho::echo>(1).get(); });
    print_figure("core.call_sync_hot_p50", us, "us", bare_spin_us(count));
    actor.kill();
  }

  void call_sync_cold() {
    const auto actor = warm_actor();
    const int count = rounds(3'000);
    const double us = round_trip_us(count, true, [&] { actor.call<&BenchEcho::echo>(1).get(); });
    print_figure("core.call_sync_cold_p50", us, "us", bare_futex_us(count));
    actor.kill();
  }

  // One caller, one actor, a thousand calls under way.
  void call_async() {
    const auto actor = warm_actor();
    constexpr std::size_t kUnderWay = 1000;
    const int count = rounds(1'000'000);
    std::vector<std::optional<Future<int>>> futures(kUnderWay);
    const auto begin = Clock::now();
    for (int i = 0; i < count; ++i) {
      auto& slot = futures[static_cast<std::size_t>(i) % kUnderWay];
      if (slot) slot->get();
      slot = actor.call<&BenchEcho::echo>(i);
    }
    for (auto& slot : futures)
      if (slot) slot->get();
    print_figure("core.call_async", count / seconds_since(begin), "1/s");
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
