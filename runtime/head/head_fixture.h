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
          spawn.setMaxRestarts(fields.restarts);
          spawn.setClass("Class");
        },
        request);
  }
  static std::string kill(std::uint64_t actor) {
    return control([&](auto m) { m.initKill().setActor(actor); });
  }
  static std::string watch(std::uint64_t request, std::uint64_t actor) {
    return control([&](auto m) { m.initWatch().setActor(actor); }, request);
  }
  static std::string lookup(std::uint64_t request, const std::string& name) {
    return control([&](auto m) { m.setLookup(name); }, request);
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
                            const std::string& cause = "exit code 1") {
    return control([&](auto message) {
      auto died = message.initWorkerExited();
      died.setActor(actor);
      died.setIncarnation(incarnation);
      died.setCause(cause);
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

}  // namespace rt
