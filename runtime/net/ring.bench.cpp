// What a message between two processes costs: the raw ring and the raw futex, which are the limits, and the ring
// transport with its bell and its waiting. Prints p50 and p99 of a round trip in microseconds, a line each.
//   rt_ring_bench [ROUNDS]
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <thread>
#include <vector>

#include "rt/runtime/base/spawn_process.h"
#include "rt/runtime/net/futex.h"
#include "rt/runtime/net/ring_poller.h"
#include "rt/runtime/net/ring_transport.h"

namespace rt {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kIdle = std::chrono::milliseconds(1);

void report(const char* name, std::vector<double>& microseconds) {
  std::sort(microseconds.begin(), microseconds.end());
  const auto at = [&](double share) {
    return microseconds[static_cast<std::size_t>(share * static_cast<double>(microseconds.size() - 1))];
  };
  fmt::print("{:28} p50 {:8.3f} us  p99 {:8.3f} us\n", name, at(0.5), at(0.99));
  std::fflush(stdout);
}

void measure(const char* name, int rounds, bool is_cold, const std::function<void()>& round_trip) {
  std::vector<double> microseconds;
  for (int i = 0; i < rounds; ++i) {
    if (is_cold) std::this_thread::sleep_for(kIdle);
    const auto begin = Clock::now();
    round_trip();
    microseconds.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
  }
  report(name, microseconds);
}

// Runs `child` in another process while `parent` runs here.
void in_two_processes(const std::function<void()>& child, const std::function<void()>& parent) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    child();
    ::_exit(0);
  }
  parent();
  ::waitpid(pid, nullptr, 0);
}

// --- the limits -----------------------------------------------------------------------------------------------------

struct Words {
  alignas(64) std::atomic<std::uint32_t> there;
  alignas(64) std::atomic<std::uint32_t> back;
};

template <class Wait, class Store>
void bare(const char* name, int rounds, bool is_cold, Wait wait, Store store) {
  const Fd memory = make_shared_memory("bench", 4096).get();
  const Mapping mapping = map_shared(memory.get(), 0, 4096).get();
  Words& words = *reinterpret_cast<Words*>(mapping.data());
  const auto last = static_cast<std::uint32_t>(rounds);
  in_two_processes(
      [&] {
        for (std::uint32_t i = 1; i <= last; ++i) {
          wait(words.there, i);
          store(words.back, i);
        }
      },
      [&] {
        std::uint32_t i = 0;
        measure(name, rounds, is_cold, [&] {
          store(words.there, ++i);
          wait(words.back, i);
        });
      });
}

// --- the transport --------------------------------------------------------------------------------------------------

class End {
 public:
  End(Fd socket, RingSide side) : transport(make_ring_transport(io, socket.release(), side).get()) {
    transport->start({.on_frame =
                          [this](const Frame& frame) {
                            size = frame.body.size();
                            RingPoller::of(io).complete(arrived);
                          },
                      .on_close =
                          [this](const Error&) {
                            is_over = true;
                            RingPoller::of(io).complete(arrived);
                          }});
    thread = std::thread([this] { io.run(); });
  }
  ~End() {
    transport->close();
    work.reset();
    io.stop();
    thread.join();
  }
  bool wait() {
    RingPoller::of(io).wait(arrived, TimePoint::max());
    arrived.reset();
    return !is_over;
  }

  boost::asio::io_context io{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{io.get_executor()};
  std::shared_ptr<Transport> transport;
  Waiter arrived;
  std::atomic<bool> is_over{false};
  std::size_t size = 0;
  std::thread thread;
};

void transport_round_trips(int rounds, int cold_rounds) {
  auto [a, b] = socket_pair().get();
  const std::string body(32 + 8, 'x');
  in_two_processes(
      [&, &theirs = b] {
        a.reset();
        End end(std::move(theirs), RingSide::Accepting);
        while (end.wait()) (void)end.transport->send(FrameType::Reply, 0, body);
      },
      [&, &ours = a] {
        b.reset();
        End end(std::move(ours), RingSide::Connecting);
        const auto round_trip = [&] {
          (void)end.transport->send(FrameType::Call, 0, body);
          end.wait();
        };
        for (int i = 0; i < 1000; ++i) round_trip();
        measure("ring transport, hot", rounds, false, round_trip);
        measure("ring transport, 1 ms idle", cold_rounds, true, round_trip);
      });
}

int run(int rounds) {
  const int cold = std::max(100, rounds / 100);
  bare(
      "bare words, both spin", rounds, false,
      [](std::atomic<std::uint32_t>& word, std::uint32_t until) {
        while (word.load(std::memory_order_acquire) != until) {
        }
      },
      [](std::atomic<std::uint32_t>& word, std::uint32_t value) { word.store(value, std::memory_order_release); });
  const auto sleep = [](std::atomic<std::uint32_t>& word, std::uint32_t until) {
    for (std::uint32_t seen; (seen = word.load()) != until;) futex_wait(word, seen, std::chrono::seconds(1));
  };
  const auto wake = [](std::atomic<std::uint32_t>& word, std::uint32_t value) {
    word.store(value);
    futex_wake(word);
  };
  bare("bare futex", cold, false, sleep, wake);
  bare("bare futex, 1 ms idle", cold, true, sleep, wake);
  transport_round_trips(rounds, cold);
  return 0;
}

}  // namespace
}  // namespace rt

int main(int argc, char** argv) { return rt::run(argc > 1 ? std::atoi(argv[1]) : 200000); }
