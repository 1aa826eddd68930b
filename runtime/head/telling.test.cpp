// What the head passes on for people to read.
#include <gmock/gmock.h>

#include "rt/runtime/head/head_fixture.h"

namespace rt {
namespace {

using testing::IsEmpty;

class HeadTelling : public HeadTest {
 protected:
  static std::string say(const std::string& what) {
    return control([&](auto m) { m.setSay(what); });
  }
  static std::string follow_logs() {
    return control([](auto m) { m.setFollowLogs(); });
  }
  static std::string started_with_log(std::uint64_t actor, std::uint32_t incarnation, std::uint64_t begin) {
    return control([&](auto message) {
      auto started = message.initWorkerStarted();
      started.setActor(actor);
      started.setIncarnation(incarnation);
      started.setClient(kWorker);
      started.setPid(99);
      started.setLog("/logs/a");
      started.setLogBegin(begin);
    });
  }
  // What `message` has a client told of logs.
  Lines logs_told(const std::string& message) {
    Lines lines;
    const auto answers = head.handle({1, 0}, message, now);
    for (const Outgoing& answer : *answers)
      (void)wire::with_message<wire::Control>(answer.bytes, [&](wire::Control::Reader control) {
        if (!control.isLogBegins()) return;
        const auto log = control.getLogBegins();
        lines.push_back(to(answer.to.client, std::string(log.getName().cStr()) + " " + std::to_string(log.getPid()) +
                                                 " " + log.getLog().cStr() + " from " +
                                                 std::to_string(log.getBegin())));
      });
    return lines;
  }
};

TEST_F(HeadTelling, AnActorsWordGoesToAllDriversAndADriversToNobody) {
  agent(driver_joined(kOther, 4712));
  driver(spawn(1, {.actor = 7}));
  agent(started(7, 1, kWorker));
  EXPECT_EQ(worker(say("wait")), (Lines{to(kDriver, ""), to(kOther, "")}));
  EXPECT_THAT(driver(say("wait")), IsEmpty());
}

TEST_F(HeadTelling, WhoFollowsIsToldWhereEachIncarnationsLogBegins) {
  driver(follow_logs());
  driver(spawn(1, {.actor = 7, .name = "counter", .restarts = 1}));
  EXPECT_EQ(logs_told(started_with_log(7, 1, 0)), Lines{to(kDriver, "counter 99 /logs/a from 0")});
  agent(exited(7));
  EXPECT_EQ(logs_told(started_with_log(7, 2, 100)), Lines{to(kDriver, "counter 99 /logs/a from 100")});
  driver(spawn(2, {.actor = 8}));
  EXPECT_EQ(logs_told(started_with_log(8, 1, 0)), Lines{to(kDriver, "actor 8 99 /logs/a from 0")});
  agent(left(kDriver));
  other(spawn(3, {.actor = 9}));
  EXPECT_THAT(logs_told(started_with_log(9, 1, 0)), IsEmpty());
}

TEST_F(HeadTelling, AListSaysWhatAnActorsLastIncarnationDiedOfAndWhoSpawnedIt) {
  driver(spawn(1, {.actor = 7, .restarts = 1}));
  agent(started(7, 1, kWorker));
  agent(exited(7, 1, "exit code 3"));
  const auto answers = head.handle({1, kDriver}, list(2, ""), now);
  (void)wire::with_message<wire::Control>(answers->front().bytes, [&](wire::Control::Reader control) {
    const auto actor = control.getReply().getActors()[0];
    EXPECT_EQ(wire::text(actor.getLastError()), "exit code 3");
    EXPECT_EQ(wire::text(actor.getParent()), "the driver (pid 4711)");
  });
}

}  // namespace
}  // namespace rt
