// The figures of `rtctl bench core` in Ray's C++ API, on a node that runs (scripts/peers/core_ray.py --cpp starts one).
// Linked as a program and as a library, which Ray's workers load.
//   core_ray ADDRESS LIBRARY RAY_VERSION [--quick]

#include <ray/api.h>
#include <signal.h>
#include <unistd.h>

#include "core_figure.h"

namespace {

using peers::Clock;

class Echo {
 public:
  static Echo* create() { return new Echo; }
  int echo(int value) { return value; }
  int process() { return ::getpid(); }
  int nap(int seconds) {
    std::this_thread::sleep_for(std::chrono::seconds(seconds));
    return 0;
  }
};
using Actor = ray::ActorHandle<Echo>;

// A thousand under way, in two halves: while one is waited for, the other is being worked on. The references are
// copied: an ObjectRef's move gives its count back before it takes the new one, and a result that comes in between is
// lost.
void many_calls(std::vector<Actor> actors, int count) {
  constexpr int kHalf = peers::kUnderWay / 2;
  std::vector<ray::ObjectRef<int>> older;
  for (int done = 0; done < count; done += kHalf) {
    std::vector<ray::ObjectRef<int>> newer;
    newer.reserve(kHalf);
    for (int i = 0; i < kHalf; ++i) {
      const auto result = actors[static_cast<std::size_t>(i) % actors.size()].Task(&Echo::echo).Remote(i);
      newer.push_back(result);
    }
    if (!older.empty()) ray::Get(older);
    older.swap(newer);
  }
  ray::Get(older);
}

// Finds the actors by their names.
class Caller {
 public:
  static Caller* create() { return new Caller; }
  int calls(std::string first, std::string second, int count) {
    many_calls({*ray::GetActor<Echo>(first), *ray::GetActor<Echo>(second)}, count);
    return count;
  }
};

RAY_REMOTE(Echo::create, &Echo::echo, &Echo::process, &Echo::nap);
RAY_REMOTE(Caller::create, &Caller::calls);

int ask(Actor& actor) { return *actor.Task(&Echo::echo).Remote(1).Get(); }
int process_of(Actor& actor) { return *actor.Task(&Echo::process).Remote().Get(); }

void calls(const peers::Figures& figures) {
  Actor actor = ray::Actor(Echo::create).Remote();
  figures.sync_calls(3'000, 500, [&] { ask(actor); });
  const int count = figures.rounds(20'000);
  const auto begin = Clock::now();
  many_calls({actor}, count);
  figures.line("core.call_async", count / peers::seconds_since(begin), "1/s");
  actor.Kill();
}

void calls_2x2(const peers::Figures& figures) {
  const std::string names[] = {"first", "second"};
  Actor first = ray::Actor(Echo::create).SetName(names[0]).Remote();
  Actor second = ray::Actor(Echo::create).SetName(names[1]).Remote();
  auto one = ray::Actor(Caller::create).Remote(), other = ray::Actor(Caller::create).Remote();
  const auto both_call = [&](int count) {
    const auto ones = one.Task(&Caller::calls).Remote(names[0], names[1], count);
    const auto others = other.Task(&Caller::calls).Remote(names[0], names[1], count);
    ones.Get();
    others.Get();
  };
  both_call(1000);
  const int count = figures.rounds(10'000);
  const auto begin = Clock::now();
  both_call(count);
  figures.line("core.call_async_2x2", 2 * count / peers::seconds_since(begin), "1/s", ", \"caller_processes\": 2");
  first.Kill();
  second.Kill();
  one.Kill();
  other.Kill();
}

void creates(const peers::Figures& figures) {
  const int count = figures.rounds(8);
  const std::string facts = ", \"actors\": " + std::to_string(count);
  std::vector<double> times;
  const auto begin = Clock::now();
  for (int i = 0; i < count; ++i) {
    const auto one = Clock::now();
    Actor actor = ray::Actor(Echo::create).Remote();
    ask(actor);
    times.push_back(1e3 * peers::seconds_since(one));
    actor.Kill();
  }
  figures.line("core.actor_create", count / peers::seconds_since(begin), "1/s", facts);
  figures.line("core.actor_create_p50", peers::median(std::move(times)), "ms", facts);
}

// With a call under way: from the kill to its error.
double kill_to_error_ms() {
  Actor actor = ray::Actor(Echo::create).Remote();
  const int process = process_of(actor);
  const auto under_way = actor.Task(&Echo::nap).Remote(60);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const auto begin = Clock::now();
  ::kill(process, SIGKILL);
  try {
    under_way.Get();
  } catch (const ray::internal::RayException&) {
    return 1e3 * peers::seconds_since(begin);
  }
  throw std::runtime_error("the call of an actor that was killed has ended well");
}

// From the kill to the first answer out of the new process; the caller asks again after each error.
double kill_to_restart_ms() {
  Actor actor = ray::Actor(Echo::create).SetMaxRestarts(1).Remote();
  const int process = process_of(actor);
  const auto begin = Clock::now();
  ::kill(process, SIGKILL);
  for (int after = process; after == process;) {
    try {
      after = process_of(actor);
    } catch (const std::exception&) {  // of any type: Ray has none for an actor that is away, and misreads it
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  const double took = 1e3 * peers::seconds_since(begin);
  actor.Kill();
  return took;
}

double median_of(int count, double (*once)()) {
  std::vector<double> times;
  for (int i = 0; i < count; ++i) times.push_back(once());
  return peers::median(std::move(times));
}

void measure(const peers::Figures& figures) {
  figures.left_out("core.send", "each of its calls has a result");
  figures.left_out("core.light_create", "each of its actors is a process");
  calls(figures);
  calls_2x2(figures);
  creates(figures);
  figures.line("core.kill_to_error", median_of(figures.rounds(5), kill_to_error_ms), "ms");
  figures.line("core.kill_to_restart", median_of(figures.rounds(3), kill_to_restart_ms), "ms");
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 4) {
    std::fprintf(stderr, "core_ray ADDRESS LIBRARY RAY_VERSION [--quick]\n");
    return 2;
  }
  ray::RayConfig config;
  config.address = argv[1];
  config.code_search_path = {argv[2]};
  ray::Init(config);
  measure(peers::Figures("ray-cpp " + std::string(argv[3]), peers::has_quick(argc, argv)));
  ray::Shutdown();
} catch (const std::exception& error) {
  std::fprintf(stderr, "core_ray: %s\n", error.what());
  return 1;
}
