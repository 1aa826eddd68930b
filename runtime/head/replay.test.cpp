#include <gmock/gmock.h>

#include <random>

#include "rt/runtime/head/head_fixture.h"
#include "rt/runtime/head/record.h"

namespace rt {
namespace {

constexpr std::uint64_t kTerm = 3;

// Random clients that lease, spawn, kill and leave on nodes that come and go. It follows what the head does, so that
// most of what it says makes sense.
class RandomCluster : private TestMessages {
 public:
  explicit RandomCluster(std::uint64_t seed) : random_(seed) {}

  HeadTime now() const { return now_; }

  std::pair<Origin, std::string> next() {
    now_ += HeadTime(below(100));
    if (nodes_ == 0 || below(60) == 0)
      return {{}, (++nodes_, node(static_cast<int>(below(6) + 1), static_cast<int>(below(3))))};
    const auto node_id = static_cast<NodeId>(below(nodes_) + 1);
    const Origin agent{node_id, 0}, client{node_id, (std::uint64_t{node_id} << 20) + below(4)};
    const std::uint64_t actor = below(12) + 1, request = ++requests_;
    const LeaseId lease_id = (kTerm << 32) + below(20) + 1;
    switch (below(18)) {
      case 0:
      case 1:
        return {client, lease(request, static_cast<std::uint32_t>(below(4)), static_cast<std::uint32_t>(below(3)))};
      case 2: return {client, release(lease_id)};
      case 3: return {client, cancel(below(request) + 1)};
      case 4:
      case 5:
        return {client,
                spawn(request, {.actor = actor, .lease = lease_id, .bundle = static_cast<std::uint32_t>(below(2))})};
      case 6:
      case 7:
        return {client, spawn(request, {.actor = actor,
                                        .name = below(2) ? "" : "name",
                                        .cpus = static_cast<std::uint32_t>(below(3)),
                                        .restarts = static_cast<std::uint32_t>(below(2))})};
      case 8: return {client, kill(actor, static_cast<std::uint32_t>(below(2) * 500))};
      case 9: return {client, watch(request, actor)};
      case 10: return {agent, started(actor, static_cast<std::uint32_t>(below(2) + 1), client.client + 100)};
      case 11:
      case 12: return {agent, exited(actor, static_cast<std::uint32_t>(below(2) + 1))};
      case 13: return {client, supervise(20 + below(3), static_cast<wire::Strategy>(below(3)), 2)};
      case 14:
        return {client,
                spawn(request,
                      {.actor = actor, .supervisor = 20 + below(3), .memory = below(1000), .detached = below(2) == 0})};
      case 15: return {{}, tick()};
      case 16: return {{node_id, client.client + 100}, leaving()};
      default: return {agent, left(below(30) == 0 ? 0 : client.client)};
    }
  }

 private:
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  std::mt19937_64 random_;
  std::uint64_t nodes_ = 0, requests_ = 0;
  HeadTime now_{0};
};

class HeadReplay : public ::testing::TestWithParam<int> {};

// Two heads are the same when they answer the same to all that follows.
TEST_P(HeadReplay, GivesAHeadThatGoesOnAsTheOneThatWrote) {
  RandomCluster cluster(static_cast<std::uint64_t>(GetParam()));
  Head head(kTerm);
  std::vector<std::string> records;
  for (int i = 0; i < 400; ++i) {
    const auto [from, message] = cluster.next();
    if (Head::is_journalled(message)) records.push_back(head_record(from, message, cluster.now()));
    ASSERT_TRUE(head.handle(from, message, cluster.now()));
  }
  auto replayed = replay_head(kTerm, records);
  ASSERT_TRUE(replayed) << replayed.error().message;
  EXPECT_EQ(replayed->actors(), head.actors());
  EXPECT_EQ(replayed->leases(), head.leases());
  for (int i = 0; i < 400; ++i) {
    const auto [from, message] = cluster.next();
    ASSERT_EQ(describe(*replayed->handle(from, message, cluster.now())),
              describe(*head.handle(from, message, cluster.now())))
        << "message " << i;
  }
}

// What must hold after every message, whatever was said: no more is free than there is, and nothing is free twice.
TEST_P(HeadReplay, NeverGivesASlotTwice) {
  RandomCluster cluster(static_cast<std::uint64_t>(GetParam()));
  Head head(kTerm);
  std::size_t leases = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto [from, message] = cluster.next();
    ASSERT_TRUE(head.handle(from, message, cluster.now()));
    const LedgerTotals totals = head.totals();
    ASSERT_LE(totals.free_cpus, totals.cpus);
    ASSERT_LE(totals.free_gpus, totals.gpus);
    if (head.leases() == 0) {
      ASSERT_EQ(totals.free_cpus, totals.cpus) << "message " << i;
    }
    leases = std::max(leases, head.leases());
  }
  EXPECT_GT(leases, 1) << "the messages made no sense";
}

INSTANTIATE_TEST_SUITE_P(Seeds, HeadReplay, testing::Range(0, 20));

TEST(HeadRecord, ThatIsTooShortIsNamed) {
  const std::vector<std::string> records{head_record({}, TestMessages::node(1, 0), {}), "short"};
  const auto head = replay_head(kTerm, records);
  ASSERT_FALSE(head);
  EXPECT_EQ(head.error().code, Code::Corrupt);
  EXPECT_THAT(head.error().message, testing::HasSubstr("record 1 of the head's journal has 5 bytes"));
}

TEST(HeadJournal, HoldsWhatChangesStateAndNoQuestions) {
  EXPECT_TRUE(Head::is_journalled(TestMessages::lease(1, 1, 1)));
  EXPECT_TRUE(Head::is_journalled(TestMessages::left(0)));
  EXPECT_FALSE(Head::is_journalled(TestMessages::cluster(1)));
  EXPECT_FALSE(Head::is_journalled(TestMessages::lookup(1, "name")));
  EXPECT_FALSE(Head::is_journalled(TestMessages::set(1, "key", "value")));
  EXPECT_FALSE(Head::is_journalled("damaged!"));
}

}  // namespace
}  // namespace rt
