#pragma once
// For tests of how actors are set up and how they end: an actor that can be told to end in many ways, and a cluster in
// a sandbox.

#include <gmock/gmock.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "rt/tests/support/cluster_test.h"

// Actors' classes have names that every process spells alike: none of them is in an anonymous namespace.
namespace supervision_test {

struct Facts {
  std::uint64_t id = 0;
  std::uint32_t incarnation = 0, node = 0, threads = 0;
  std::string name, name_space, directory, mode;
  std::vector<int> pinned, cpuset;
};

class Worker {
 public:
  // Each incarnation appends a line to `diary`; `trouble` says what happens to it in there.
  Worker(std::string diary, std::string trouble) : diary_(diary) {
    note("begins");
    if (trouble == "throw") throw std::runtime_error("no such table: weights");
    if (trouble == "throw at first, then exit") {
      if (rt::self().incarnation() == 1) throw std::runtime_error("no such table: weights");
      std::_Exit(9);
    }
  }
  ~Worker() { note("is destroyed"); }

  Facts facts() {
    const rt::Self& self = rt::self();
    Facts facts{.id = self.id(),
                .incarnation = self.incarnation(),
                .node = self.node(),
                .threads = self.threads(),
                .name = std::string(self.name()),
                .name_space = std::string(self.name_space()),
                .directory = std::filesystem::current_path().string(),
                .mode = std::getenv("MODE") ? std::getenv("MODE") : ""};
    facts.cpuset.assign(self.cpuset().begin(), self.cpuset().end());
    cpu_set_t set;
    ::sched_getaffinity(0, sizeof set, &set);
    for (int core = 0; core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(core, &set)) facts.pinned.push_back(core);
    return facts;
  }
  int pid() { return ::getpid(); }
  void say(std::string line) { rt::self().logger().warning(line); }
  void note(const std::string& what) {
    if (!diary_.empty())
      std::ofstream(diary_, std::ios::app) << std::string(rt::self().name()) << " " << what << std::endl;
  }
  int crash(int code) {
    std::fprintf(stderr, "crashing with %d\n", code);
    std::_Exit(code);
  }
  void raise(int signal) { ::raise(signal); }
  void leave() { rt::self().leave(); }
  int work_until_asked_to_stop() {
    note("works");
    while (!rt::self().stop_token().stop_requested()) ::poll(nullptr, 0, 1);
    return 42;
  }
  void work_for_ever() {
    note("works");
    while (true) ::pause();
  }
  // A process in a session of its own, without a parent here.
  int leave_a_daemon() {
    int pipe[2];
    if (::pipe(pipe) != 0) return 0;
    if (::fork() == 0) {
      ::setsid();
      if (const int pid = ::fork(); pid != 0) {
        (void)!::write(pipe[1], &pid, sizeof pid);
        std::_Exit(0);
      }
      while (true) ::pause();
    }
    int pid = 0;
    (void)!::read(pipe[0], &pid, sizeof pid);
    return pid;
  }
  void use_memory(std::size_t bytes) {
    memory_.assign(bytes, 'x');
    work_for_ever();
  }
  rt::Actor<Worker> spawn_child(std::string name, bool detached) {
    return rt::self().spawn<Worker>({.name = name, .detached = detached}, std::string(diary_), std::string());
  }
  rt::Actor<Worker> supervise_child(std::string name) {
    return rt::self().supervise({}).spawn<Worker>({.name = name}, std::string(diary_), std::string());
  }
  void kill_other(rt::Actor<Worker> other) { other.kill(); }
  std::string death_of(rt::Actor<Worker> other) { return rt::watch(other).next().get().cause; }

 private:
  std::string diary_, memory_;
};

}  // namespace supervision_test

namespace rt::testing {

using supervision_test::Worker;

class Supervision : public ClusterTest {
 protected:
  Supervision()
      : ClusterTest(
            {.cpus = 4, .memory = std::uint64_t{1} << 30, .resources = {{"licence", 1}}, .name_space = "test"}) {}

  Actor<Worker> spawn(const SpawnOptions& options = {}, const std::string& trouble = "") {
    return cluster->spawn<Worker>(options, diary(), trouble);
  }
  std::string diary() const { return (sandbox / "diary").string(); }
  std::vector<std::string> lines() const {
    std::vector<std::string> lines;
    std::ifstream in(diary());
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }
  std::string me() const { return "the driver (pid " + std::to_string(::getpid()) + ")"; }
  static bool is_gone(pid_t pid) { return ::kill(pid, 0) != 0; }
};

inline ActorDeath next(Watch& watch) { return watch.next(kLimit).get(); }

}  // namespace rt::testing
