// The figures of `rtctl bench core` in CAF. The actors that are called live in processes of their own, which this
// program starts anew from itself and reaches over CAF's middleman, on TCP; it speaks nothing else.
//   core_caf [--quick]

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <caf/all.hpp>
#include <caf/io/all.hpp>
#include <stdexcept>

#include "core_figure.h"

namespace {

using peers::Clock;
using One = caf::atom_constant<caf::atom("one")>;    // one way
using Seen = caf::atom_constant<caf::atom("seen")>;  // how many of these came
using Done = caf::atom_constant<caf::atom("done")>;

struct Count {
  int value = 0;
};

caf::behavior echo(caf::stateful_actor<Count>* self) {
  return {[](int value) { return value; }, [self](One, int) { ++self->state.value; },
          [self](Seen) { return self->state.value; }};
}

// --- a process with one actor ---------------------------------------------------------------------------------------

// Publishes an actor, writes the port to standard output, and lives as long as its parent.
void serve(caf::actor_system& system) {
  const auto port = system.middleman().publish(system.spawn(echo), 0, "127.0.0.1");
  if (!port) throw std::runtime_error("CAF could not publish an actor: " + system.render(port.error()));
  std::printf("%d\n", static_cast<int>(*port));
  std::fflush(stdout);
  for (;;) ::pause();
}

class Server {
 public:
  explicit Server(caf::actor_system& system) {
    int ends[2];
    if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
    process_ = ::fork();
    if (process_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::dup2(ends[1], STDOUT_FILENO);
      ::execl("/proc/self/exe", "core_caf", "serve", nullptr);
      ::_exit(127);
    }
    ::close(ends[1]);
    FILE* port_line = ::fdopen(ends[0], "r");
    int port = 0;
    const bool has_port = std::fscanf(port_line, "%d", &port) == 1;
    std::fclose(port_line);
    if (!has_port) throw std::runtime_error("the process with the actor did not tell its port");
    auto remote = system.middleman().remote_actor("127.0.0.1", static_cast<std::uint16_t>(port));
    if (!remote) throw std::runtime_error("CAF found no actor there: " + system.render(remote.error()));
    actor_ = *remote;
  }
  Server(const Server&) = delete;
  ~Server() {
    kill();
    ::waitpid(process_, nullptr, 0);
  }

  const caf::actor& actor() const { return actor_; }
  void kill() const { ::kill(process_, SIGKILL); }

 private:
  pid_t process_;
  caf::actor actor_;
};

// --- a caller with a thousand calls under way -----------------------------------------------------------------------

struct Calls {
  std::vector<caf::actor> peers;
  int to_send = 0, to_come = 0;
  caf::actor parent;
};

void call_next(caf::stateful_actor<Calls>* self) {
  auto& calls = self->state;
  const auto& peer = calls.peers[static_cast<std::size_t>(--calls.to_send) % calls.peers.size()];
  self->request(peer, caf::infinite, 1).then([self](int) {
    auto& state = self->state;
    if (state.to_send > 0) call_next(self);
    if (--state.to_come == 0) self->send(state.parent, Done::value);
  });
}

caf::behavior caller(caf::stateful_actor<Calls>* self, std::vector<caf::actor> peers, int count, caf::actor parent) {
  self->state = {std::move(peers), count, count, std::move(parent)};
  for (int i = 0; i < peers::kUnderWay && i < count; ++i) call_next(self);
  return {[](Done) {}};
}

double calls_a_second(caf::actor_system& system, const std::vector<caf::actor>& actors, int callers, int count) {
  caf::scoped_actor self{system};
  const auto begin = Clock::now();
  std::vector<caf::actor> all;
  for (int i = 0; i < callers; ++i) all.push_back(system.spawn(caller, actors, count / callers, caf::actor(self)));
  for (int i = 0; i < callers; ++i) self->receive([](Done) {});
  const double rate = count / callers * callers / peers::seconds_since(begin);
  for (const auto& one : all) self->send_exit(one, caf::exit_reason::kill);
  return rate;
}

// --- the figures ----------------------------------------------------------------------------------------------------

int ask(caf::scoped_actor& self, const caf::actor& actor, int value) {
  int answer = 0;
  self->request(actor, caf::infinite, value)
      .receive([&](int result) { answer = result; },
               [&](caf::error& error) { throw std::runtime_error(self->system().render(error)); });
  return answer;
}

double sends_a_second(caf::scoped_actor& self, const caf::actor& actor, int count) {
  const auto begin = Clock::now();
  for (int i = 0; i < count; ++i) self->send(actor, One::value, i);
  int seen = 0;
  self->request(actor, caf::infinite, Seen::value)
      .receive([&](int value) { seen = value; },
               [&](caf::error& error) { throw std::runtime_error(self->system().render(error)); });
  const double rate = count / peers::seconds_since(begin);
  if (seen != count)
    throw std::runtime_error("of " + std::to_string(count) + " messages " + std::to_string(seen) + " came");
  return rate;
}

double light_creates_a_second(caf::actor_system& system, int count) {
  caf::scoped_actor self{system};
  const auto begin = Clock::now();
  for (int i = 0; i < count; ++i) {
    const auto actor = system.spawn(echo);
    ask(self, actor, 1);
    self->send_exit(actor, caf::exit_reason::kill);
  }
  return count / peers::seconds_since(begin);
}

double kill_to_error_ms(caf::actor_system& system, int count) {
  std::vector<double> times;
  for (int i = 0; i < count; ++i) {
    const Server server(system);
    caf::scoped_actor self{system};
    self->monitor(server.actor());
    ask(self, server.actor(), 1);
    const auto begin = Clock::now();
    server.kill();
    self->receive([](const caf::down_msg&) {});
    times.push_back(1e3 * peers::seconds_since(begin));
  }
  return peers::median(std::move(times));
}

void measure(caf::actor_system& system, const peers::Figures& figures) {
  {
    const Server server(system);
    caf::scoped_actor self{system};
    figures.sync_calls(10'000, 1'000, [&] { ask(self, server.actor(), 1); });
    figures.line("core.call_async", calls_a_second(system, {server.actor()}, 1, figures.rounds(200'000)), "1/s");
    figures.line("core.send", sends_a_second(self, server.actor(), figures.rounds(200'000)), "1/s");
  }
  {
    const Server first(system), second(system);
    const std::vector<caf::actor> both{first.actor(), second.actor()};
    calls_a_second(system, both, 1, 1000);
    figures.line("core.call_async_2x2", calls_a_second(system, both, 2, figures.rounds(200'000)), "1/s",
                 ", \"caller_processes\": 1");
  }
  figures.line("core.light_create", light_creates_a_second(system, figures.rounds(30'000)), "1/s");
  figures.line("core.kill_to_error", kill_to_error_ms(system, figures.rounds(20)), "ms", ", \"by\": \"down_msg\"");
  figures.left_out("core.actor_create, core.actor_create_p50", "its actors share a process, none comes with its own");
  figures.left_out("core.kill_to_restart", "it restarts no actor");
}

}  // namespace

int main(int argc, char** argv) try {
  caf::actor_system_config config;
  config.load<caf::io::middleman>();
  caf::actor_system system{config};
  if (argc > 1 && std::strcmp(argv[1], "serve") == 0) serve(system);
  const std::string version = std::to_string(CAF_MAJOR_VERSION) + "." + std::to_string(CAF_MINOR_VERSION) + "." +
                              std::to_string(CAF_PATCH_VERSION);
  measure(system, peers::Figures("caf " + version, peers::has_quick(argc, argv)));
} catch (const std::exception& error) {
  std::fprintf(stderr, "core_caf: %s\n", error.what());
  return 1;
}
