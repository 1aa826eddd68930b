#pragma once
// For tests of the head: messages as one line each, and what the head answered, as text that a test can compare.

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "rt/runtime/head/head.h"
#include "rt/runtime/wire/message.h"

namespace rt {

template <class Fill>
std::string control(Fill&& fill, std::uint64_t request = 0) {
  capnp::MallocMessageBuilder builder;
  auto message = builder.initRoot<wire::Control>();
  message.setRequest(request);
  fill(message);
  return wire::to_bytes(builder);
}

struct SpawnFields {
  std::uint64_t actor = 0;
  std::string name;
  LeaseId lease = 0;
  std::uint32_t bundle = 0, cpus = 0, gpus = 0, restarts = 0;
  std::uint64_t supervisor = 0, memory = 0;
  std::string name_space;
  bool detached = false;
};

struct TestMessages {
  static std::string node(int cpus, int gpus, std::uint32_t version = wire::PROTOCOL_VERSION) {
    return control(
        [&](auto message) {
          auto facts = message.initRegisterNode();
          facts.setVersion(version);
          facts.setName("node");
          auto cores = facts.initCores(static_cast<unsigned>(cpus));
          for (unsigned i = 0; i < cores.size(); ++i) cores.set(i, static_cast<int>(i));
          auto uuids = facts.initGpus(static_cast<unsigned>(gpus));
          for (unsigned i = 0; i < uuids.size(); ++i) uuids.set(i, "GPU-" + std::to_string(i));
        },
        1);
  }
  static std::string lease(std::uint64_t request, std::uint32_t size, std::uint32_t cpus, std::uint32_t gpus = 0) {
    return control(
        [&](auto message) {
          auto asked = message.initLease();
          asked.setSize(size);
          asked.setCpusPerBundle(cpus);
          asked.setGpusPerBundle(gpus);
        },
        request);
  }
  static std::string cancel(std::uint64_t request) {
    return control([&](auto m) { m.setCancelLease(request); });
  }
  static std::string release(LeaseId id) {
    return control([&](auto m) { m.setReleaseLease(id); });
  }
  static std::string spawn(std::uint64_t request, const SpawnFields& fields) {
    return control(
        [&](auto message) {
          auto spawn = message.initSpawn();
          spawn.setActor(fields.actor);
          spawn.setName(fields.name);
          spawn.setLease(fields.lease);
          spawn.setBundle(fields.bundle);
          spawn.setCpus(fields.cpus);
          spawn.setGpus(fields.gpus);
          spawn.initRestarts().setMost(fields.restarts);
          spawn.getRestarts().setDelayMs(100);
          spawn.getRestarts().setMaxDelayMs(30'000);
          spawn.setSupervisor(fields.supervisor);
          spawn.setMemory(fields.memory);
          spawn.setNameSpace(fields.name_space);
          spawn.setDetached(fields.detached);
          spawn.setClass("std::tuple<Class, std::map<int, int>>");
        },
        request);
  }
  static std::string kill(std::uint64_t actor, std::uint32_t deadline_ms = 0) {
    return control([&](auto m) {
      m.initKill().setActor(actor);
      m.getKill().setDeadlineMs(deadline_ms);
    });
  }
  static std::string supervise(std::uint64_t id, wire::Strategy strategy, std::uint32_t most) {
    return control([&](auto m) {
      auto supervise = m.initSupervise();
      supervise.setSupervisor(id);
      supervise.setStrategy(strategy);
      supervise.setStopMs(500);
      supervise.initRestarts().setMost(most);
    });
  }
  static std::string leaving() {
    return control([](auto m) { m.setLeaving(); });
  }
  static std::string threw(const std::string& what) {
    return control([&](auto m) { m.setConstructorThrew(what); });
  }
  static std::string driver_joined(std::uint64_t client, std::uint32_t pid, const std::string& name_space = "") {
    return control([&](auto m) {
      auto joined = m.initDriverJoined();
      joined.setClient(client);
      joined.setPid(pid);
      joined.setNameSpace(name_space);
    });
  }
  static std::string list(std::uint64_t request, const std::string& name_space) {
    return control([&](auto m) { m.setListActors(name_space); }, request);
  }
  static std::string tick() {
    return control([](auto m) { m.setTick(); });
  }
  static std::string watch(std::uint64_t request, std::uint64_t actor) {
    return control([&](auto m) { m.initWatch().setActor(actor); }, request);
  }
  static std::string lookup(std::uint64_t request, const std::string& name) {
    return control([&](auto m) { m.initLookup().setName(name); }, request);
  }
  static std::string cluster(std::uint64_t request) {
    return control([](auto m) { m.setCluster(); }, request);
  }
  static std::string set(std::uint64_t request, const std::string& key, const std::string& value) {
    return control(
        [&](auto m) {
          auto set = m.initKeyValue().initSet();
          set.setKey(key);
          set.setValue(wire::as_data(value));
        },
        request);
  }
  static std::string get(std::uint64_t request, const std::string& key) {
    return control([&](auto m) { m.initKeyValue().initGet(1).set(0, key); }, request);
  }
  static std::string started(std::uint64_t actor, std::uint32_t incarnation, std::uint64_t client) {
    return control([&](auto message) {
      auto started = message.initWorkerStarted();
      started.setActor(actor);
      started.setIncarnation(incarnation);
      started.setAddress("/address/" + std::to_string(actor));
      started.setClient(client);
    });
  }
  static std::string exited(std::uint64_t actor, std::uint32_t incarnation = 1,
                            const std::string& cause = "exit code 1", const std::string& last_lines = "",
                            bool deadline_passed = false) {
    return control([&](auto message) {
      auto died = message.initWorkerExited();
      died.setActor(actor);
      died.setIncarnation(incarnation);
      died.setCause(cause);
      died.setLastLines(last_lines);
      died.setDeadlinePassed(deadline_passed);
    });
  }
  static std::string left(std::uint64_t client) {
    return control([&](auto m) { m.setClientLeft(client); });
  }
};

// "1.7 <what>": to client 7 on node 1; client 0 is the node's agent.
inline std::string describe(const Outgoing& message) {
  std::ostringstream text;
  text << message.to.node << '.' << message.to.client << ' ';
  const Status read = wire::with_message<wire::Control>(message.bytes, [&](wire::Control::Reader control) {
    if (control.getRequest() != 0) text << '#' << control.getRequest() << ' ';
    if (control.isStartWorker()) {
      const auto start = control.getStartWorker();
      text << "start " << start.getActor() << '.' << start.getIncarnation() << " on";
      for (const auto core : start.getBundle().getCores()) text << ' ' << core;
      for (const auto gpu : start.getBundle().getGpus()) text << ' ' << gpu.cStr();
    } else if (control.isKillWorker()) {
      text << "kill " << control.getKillWorker().getActor() << '.' << control.getKillWorker().getIncarnation();
      if (control.getKillWorker().getDeadlineMs() > 0) text << " within " << control.getKillWorker().getDeadlineMs();
    } else if (control.isActorStarted()) {
      text << "started " << control.getActorStarted().getActor() << '.' << control.getActorStarted().getIncarnation();
    } else if (control.isActorDied()) {
      const auto died = control.getActorDied();
      text << "died " << died.getActor() << '.' << died.getIncarnation() << " of " << died.getCause().cStr();
      if (died.getKilled()) text << " killed";
      if (died.getWillRestart()) text << " restarts";
    } else if (control.isReply()) {
      const auto reply = control.getReply();
      if (reply.isError())
        text << "error " << to_string(static_cast<Code>(reply.getError().getCode()));
      else if (reply.isDone())
        text << "done";
      else if (reply.isNode())
        text << "node " << reply.getNode().getNode() << " from " << reply.getNode().getFirstClient();
      else if (reply.isDied())
        text << "has died of " << reply.getDied().getCause().cStr();
      else if (reply.isActors())
        for (const auto actor : reply.getActors())
          text << '[' << actor.getActor() << ' ' << actor.getNameSpace().cStr() << '/' << actor.getName().cStr() << ' '
               << actor.getClass().cStr() << ' ' << static_cast<int>(actor.getState()) << ']';
      else if (reply.isActor())
        text << "actor " << reply.getActor().getActor();
      else if (reply.isKeyValue())
        text << "value " << wire::data(reply.getKeyValue().getValue());
      else if (reply.isCluster())
        text << "free " << reply.getCluster().getFreeCpus() << " pending " << reply.getCluster().getPendingLeases();
      else if (reply.isLease()) {
        text << "lease " << (reply.getLease().getId() & 0xffffffff);
        for (const auto bundle : reply.getLease().getBundles()) {
          text << " [" << bundle.getNode() << ":";
          for (const auto core : bundle.getCores()) text << ' ' << core;
          for (const auto gpu : bundle.getGpus()) text << ' ' << gpu.cStr();
          text << ']';
        }
      }
    }
  });
  EXPECT_TRUE(read);
  return text.str();
}

inline std::vector<std::string> describe(const std::vector<Outgoing>& messages) {
  std::vector<std::string> lines;
  for (const Outgoing& message : messages) lines.push_back(describe(message));
  return lines;
}

using Lines = std::vector<std::string>;

inline constexpr std::uint64_t kDriver = 1 << 20, kOther = kDriver + 1, kWorker = kDriver + 2;
inline constexpr LeaseId kLease = LeaseId{5} << 32;  // lease n is kLease + n

inline std::string to(std::uint64_t client, const std::string& what) {
  return "1." + std::to_string(client) + " " + what;
}

// One node of 4 cores and 2 GPUs in term 5, and a driver of pid 4711. `now` is moved by hand.
class HeadTest : public ::testing::Test, protected TestMessages {
 protected:
  void SetUp() override {
    ASSERT_EQ(tell({}, node(4, 2)), Lines{"1.0 #1 node 1 from " + std::to_string(kDriver)});
    agent(driver_joined(kDriver, 4711));
  }
  Lines tell(Origin from, const std::string& message) {
    const auto answers = head.handle(from, message, now);
    EXPECT_TRUE(answers) << answers.error().message;
    return answers ? describe(*answers) : Lines{"damaged"};
  }
  Lines driver(const std::string& message) { return tell({1, kDriver}, message); }
  Lines other(const std::string& message) { return tell({1, kOther}, message); }
  Lines worker(const std::string& message) { return tell({1, kWorker}, message); }
  Lines agent(const std::string& message) { return tell({1, 0}, message); }
  // Time passes up to the head's next tick.
  Lines wait_for_tick() {
    now = head.next_tick().value();
    return tell({}, tick());
  }
  // An actor of the driver in its lease 1, running as client `kWorker`.
  void start_worker(SpawnFields fields = {.actor = 7, .lease = kLease + 1}) {
    driver(lease(1, 1, 2));
    driver(spawn(2, fields));
    agent(started(fields.actor, 1, kWorker));
  }
  std::uint32_t free_cpus() const { return head.totals().free_cpus; }
  HeadTime now{0};
  Head head{5};
};

}  // namespace rt
