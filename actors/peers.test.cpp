#include "rt/actors/peers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/post.hpp>
#include <future>
#include <thread>

#include "rt/actors/io_thread.h"
#include "rt/actors/mailbox.h"
#include "rt/runtime/base/temporary_folder.h"
#include "rt/runtime/net/ring_transport.h"

namespace rt::detail {
namespace {

using testing::HasSubstr;

constexpr ActorId kCallee = 7;

// Peers with an I/O thread of their own; actors are mailboxes that the test answers by hand.
class PeersTest : public ::testing::Test {
 protected:
  void TearDown() override { io.stop(); }
  std::string address(std::uint32_t incarnation) const { return folder.path() / std::to_string(incarnation); }
  Mailbox* start(std::uint32_t incarnation, const CallLimits& limits = {}) {
    mailboxes.push_back(std::make_unique<Mailbox>(io.io(), kCallee, incarnation, Mailbox::Limits{}));
    EXPECT_TRUE(mailboxes.back()->open(address(incarnation)));
    peers.on_started(kCallee, incarnation, address(incarnation), limits);
    return mailboxes.back().get();
  }
  static void answer(const Mailbox::Letter& letter, const std::string& body,
                     wire::Outcome outcome = wire::Outcome::Returned) {
    wire::CallHeader header = letter.header;
    header.outcome = outcome;
    ASSERT_TRUE(
        letter.from->send(FrameType::Reply, kCallee, {reinterpret_cast<const char*>(&header), sizeof header}, body));
  }
  static Error error_of(const std::shared_ptr<CallState>& state) {
    state->wait();
    EXPECT_TRUE(state->has_failed());
    return state->has_failed() ? state->error() : Error{};
  }

  static std::string answer_of(const std::shared_ptr<CallState>& state) {
    state->wait();
    return std::string(state->bytes());
  }

  const TemporaryFolder folder;
  std::vector<ActorId> watched;
  IoThread io;
  std::vector<std::unique_ptr<Mailbox>> mailboxes;  // until the I/O thread has ended
  Peers peers{io.io(), nullptr, [this](ActorId actor) { watched.push_back(actor); }};
};

// An actor that is no more than a connection, in the test's hand.
class BareActor {
 public:
  explicit BareActor(const std::string& address)
      : listener_(*UnixListener::open(io_.io(), address, [this](Fd socket) {
          auto caller = make_ring_transport(io_.io(), socket.release(), RingSide::Accepting).get();
          caller->start({.on_frame = [](const Frame&) {}, .on_close = [](const Error&) {}});
          accepted_.set_value(std::move(caller));
        })) {}
  ~BareActor() { io_.stop(); }
  std::shared_ptr<Transport> connection() { return accepted_.get_future().get(); }  // once

 private:
  std::promise<std::shared_ptr<Transport>> accepted_;
  IoThread io_;
  std::unique_ptr<UnixListener> listener_;
};

TEST_F(PeersTest, CallsWaitForTheActorsStartAndLeaveInOrder) {
  peers.expect(kCallee);
  const auto one = peers.call(kCallee, "m", "1"), two = peers.call(kCallee, "m", "2");
  const auto actor = start(1);
  const auto three = peers.call(kCallee, "m", "3");
  for (const std::string number : {"1", "2", "3"}) {
    const Mailbox::Letter& letter = actor->take();
    EXPECT_EQ(letter.arguments.view(), number);
    EXPECT_EQ(letter.header.method, wire::method_hash("m"));
    answer(letter, "answer " + number);
  }
  EXPECT_EQ(answer_of(one), "answer 1");
  EXPECT_EQ(answer_of(two), "answer 2");
  EXPECT_EQ(answer_of(three), "answer 3");
  EXPECT_TRUE(watched.empty()) << "news of an actor that was spawned here comes by itself";
}

TEST_F(PeersTest, AsksForNewsOfAnActorThatWasSpawnedElsewhereOnce) {
  peers.call(kCallee, "m", "");
  peers.call(kCallee, "m", "");
  EXPECT_EQ(watched, std::vector<ActorId>{kCallee});
}

TEST_F(PeersTest, TellsWhatTheMethodThrewAndWhatThereIsNot) {
  const auto actor = start(1);
  const auto threw = peers.call(kCallee, "m", ""), unknown = peers.call(kCallee, "old", ""),
             wrong = peers.call(kCallee, "m", ""), odd = peers.call(kCallee, "m", "");
  Encoder thrown;
  encode(thrown, Thrown{"std::runtime_error", "it can't", "7", 1, 4711});
  answer(actor->take(), thrown.take(), wire::Outcome::Threw);
  answer(actor->take(), "", wire::Outcome::UnknownMethod);
  answer(actor->take(), "", wire::Outcome::WrongClass);
  answer(actor->take(), "", static_cast<wire::Outcome>(99));
  EXPECT_EQ(error_of(threw), (Error{Code::Failed, "it can't"}));
  EXPECT_EQ(error_of(unknown).code, Code::NotFound);
  EXPECT_THAT(error_of(unknown).message, HasSubstr("has no method old"));
  EXPECT_EQ(error_of(wrong).code, Code::Invalid);
  EXPECT_EQ(error_of(odd).code, Code::Corrupt);
}

TEST_F(PeersTest, ADeathTellsCallsThatMayHaveRunFromThoseThatDidNot) {
  const auto actor = start(1);
  const auto under_way = peers.call(kCallee, "m", "");
  actor->take();
  peers.on_died({.actor = kCallee, .incarnation = 1, .cause = "signal 9 (SIGKILL)", .last_lines = "help\n"});
  const auto after = peers.call(kCallee, "m", "");
  EXPECT_EQ(error_of(under_way).code, Code::MaybeRan);
  EXPECT_THAT(error_of(under_way).message, HasSubstr("signal 9 (SIGKILL)\nits last lines:\nhelp"));
  EXPECT_EQ(error_of(after), (Error{Code::NotSent, "the actor is dead: signal 9 (SIGKILL)"}));
}

TEST_F(PeersTest, ACallOverTheActorsBoundWaitsForAnAnswerAndThenGivesUp) {
  const auto actor = start(1, {.most_pending = 2});
  const auto one = peers.call(kCallee, "m", ""), two = peers.call(kCallee, "m", "");
  const auto hopeless = peers.call(kCallee, "m", "", {.deadline = std::chrono::milliseconds(5)});
  EXPECT_EQ(hopeless->error().code, Code::Unavailable) << "it waited until its deadline";
  EXPECT_THAT(hopeless->error().message, HasSubstr("its max_pending_calls is 2"));
  EXPECT_TRUE(peers.send(kCallee, "one way", "")) << "these have no answer to wait for";
  std::thread answers([&] { answer(actor->take(), "first"); });
  const auto three = peers.call(kCallee, "m", "3");
  answers.join();
  EXPECT_EQ(answer_of(one), "first");
  EXPECT_FALSE(two->is_complete());
  EXPECT_FALSE(three->is_complete());
}

TEST_F(PeersTest, ACallOnTheThreadThatReadsTheAnswersDoesNotWaitForRoom) {
  start(1, {.most_pending = 1});
  const auto one = peers.call(kCallee, "m", "");
  std::promise<Error> refused;
  boost::asio::post(io.io(), [&] { refused.set_value(peers.call(kCallee, "m", "")->error()); });
  EXPECT_EQ(refused.get_future().get().code, Code::Unavailable);
}

TEST_F(PeersTest, CallsThatWaitForTheActorsStartAreBounded) {
  peers.expect(kCallee);
  const std::string large(std::size_t{32} << 20, 'x');
  const auto one = peers.call(kCallee, "m", large);
  const auto two = peers.call(kCallee, "m", large, {.deadline = std::chrono::milliseconds(5)});
  EXPECT_EQ(two->error().code, Code::Unavailable);
  const auto actor = start(1);
  EXPECT_EQ(actor->take().arguments.size(), large.size());
  const auto three = peers.call(kCallee, "m", large);
  EXPECT_EQ(actor->take().arguments.size(), large.size());
}

TEST_F(PeersTest, CallsHaveTheActorsDeadlineWhereTheyHaveNoOther) {
  start(1, {.deadline = std::chrono::milliseconds(5)});
  const auto own = peers.call(kCallee, "m", "", {.deadline = std::chrono::hours(1)});
  EXPECT_EQ(error_of(peers.call(kCallee, "m", "")).code, Code::Deadline);
  EXPECT_FALSE(own->is_complete());
}

TEST_F(PeersTest, AnActorThatNeverStartedRanNothing) {
  peers.expect(kCallee);
  const auto call = peers.call(kCallee, "m", "");
  peers.on_died({.actor = kCallee, .cause = "it can never be placed"});
  EXPECT_EQ(error_of(call).code, Code::NotSent);
  EXPECT_THAT(error_of(call).message, HasSubstr("it can never be placed"));
}

TEST_F(PeersTest, CallsOutliveARestartOnlyIfTheyWereNotSent) {
  auto first = start(1);
  const auto sent = peers.call(kCallee, "m", "sent");
  first->take();
  peers.on_died({.actor = kCallee, .incarnation = 1, .cause = "exit code 1", .will_restart = true});
  const auto waits = peers.call(kCallee, "m", "waits");
  EXPECT_EQ(error_of(sent).code, Code::MaybeRan);
  const auto second = start(2);
  peers.on_died({.actor = kCallee, .incarnation = 1, .cause = "older news"});
  const Mailbox::Letter& letter = second->take();
  EXPECT_EQ(letter.arguments.view(), "waits");
  answer(letter, "done");
  EXPECT_EQ(answer_of(waits), "done");
}

TEST_F(PeersTest, AnIdempotentCallIsSentAgainWhereItsActorComesBackAndNotForEver) {
  wire::MethodName idempotent = "m";
  idempotent.is_idempotent = true;
  auto actor = start(1);
  const auto state = peers.call(kCallee, idempotent, "again"), later = peers.call(kCallee, "m", "once");
  for (std::uint32_t incarnation = 2; incarnation <= Peers::kMostAttempts; ++incarnation) {
    EXPECT_EQ(actor->take().arguments.view(), "again");
    peers.on_died({.actor = kCallee, .incarnation = incarnation - 1, .cause = "exit code 1", .will_restart = true});
    actor = start(incarnation);
  }
  EXPECT_EQ(error_of(later).code, Code::MaybeRan);
  EXPECT_EQ(actor->take().arguments.view(), "again");
  peers.on_died({.actor = kCallee, .incarnation = Peers::kMostAttempts, .cause = "exit code 1", .will_restart = true});
  EXPECT_EQ(error_of(state).code, Code::MaybeRan);
}

// The number of a call to the incarnation before says nothing to this one.
TEST_F(PeersTest, GivesUpNoCallOfAnotherIncarnation) {
  BareActor before(address(1));
  peers.on_started(kCallee, 1, address(1));
  const auto old = peers.call(kCallee, "m", "");
  const auto kept_open = before.connection();
  const auto actor = start(2);  // its news came before that of the other's end
  const auto call = peers.call(kCallee, "m", "");
  old->cancel();
  const auto marker = peers.call(kCallee, "m", "after");
  answer(actor->take(), "runs");
  EXPECT_EQ(actor->take().arguments.view(), "after");
  EXPECT_EQ(answer_of(call), "runs");
}

// The answer lay in the ring when its actor died, and nobody had read it yet.
TEST_F(PeersTest, WhatADeadActorHadAnsweredCounts) {
  const auto actor = start(1);
  const auto answered = peers.call(kCallee, "m", ""), under_way = peers.call(kCallee, "m", "");
  answer(actor->take(), "the answer");
  actor->take();
  peers.on_died({.actor = kCallee, .incarnation = 1, .cause = "exit code 1"});
  EXPECT_EQ(answer_of(answered), "the answer");
  EXPECT_EQ(error_of(under_way).code, Code::MaybeRan);
}

// The process is gone, the notice of it still under way: what is called in between keeps its place.
TEST_F(PeersTest, CallsToAJustDeadActorWaitForTheNews) {
  peers.on_started(kCallee, 1, address(1));
  const auto one = peers.call(kCallee, "m", "1"), two = peers.call(kCallee, "m", "2");
  EXPECT_FALSE(one->wait_for(std::chrono::milliseconds(0)));
  peers.on_died({.actor = kCallee, .incarnation = 1, .cause = "exit code 1", .will_restart = true});
  const auto actor = start(2);
  EXPECT_EQ(actor->take().arguments.view(), "1");
  EXPECT_EQ(actor->take().arguments.view(), "2");
}

TEST_F(PeersTest, WhatCannotBeSentSaysSoAndStopsNothingElse) {
  const auto actor = start(1);
  const auto huge = peers.call(kCallee, "m", std::string((std::size_t{256} << 20) + 1, 'x'));
  const auto small = peers.call(kCallee, "m", "small");
  EXPECT_EQ(error_of(huge).code, Code::Invalid);
  EXPECT_EQ(actor->take().arguments.view(), "small");
}

TEST_F(PeersTest, AnActorThatSendsGarbageLosesTheCallsUnderWay) {
  BareActor actor(address(1));
  peers.on_started(kCallee, 1, address(1));
  const auto call = peers.call(kCallee, "m", "");
  ASSERT_TRUE(actor.connection()->send(static_cast<FrameType>(77), 0, "garbage"));
  EXPECT_EQ(error_of(call).code, Code::MaybeRan);
  EXPECT_THAT(error_of(call).message, HasSubstr("no frame of rt"));
}

TEST_F(PeersTest, WithoutAnAgentNothingWaits) {
  const auto actor = start(1);
  const auto sent = peers.call(kCallee, "m", ""), queued = peers.call(kCallee + 1, "m", "");
  actor->take();
  peers.fail_all({Code::Unavailable, "this node's agent (rtd) is gone"});
  EXPECT_EQ(error_of(sent).code, Code::MaybeRan);
  EXPECT_EQ(error_of(queued).code, Code::NotSent);
  EXPECT_EQ(error_of(peers.call(kCallee, "m", "")).code, Code::NotSent);
}

// The actor's process goes first, and the agent that would have told it is gone too.
TEST_F(PeersTest, WithoutAnAgentNothingWaitsForNewsOfAConnectionThatHasClosed) {
  BareActor actor(address(1));
  peers.on_started(kCallee, 1, address(1));
  const auto call = peers.call(kCallee, "m", ""), late = peers.call(kCallee, "m", "", {std::chrono::seconds(1)});
  actor.connection()->close();
  EXPECT_EQ(error_of(late).code, Code::Deadline);  // by then it has closed
  peers.fail_all({Code::Unavailable, "this node's agent (rtd) is gone"});
  EXPECT_EQ(error_of(call).code, Code::MaybeRan);
}

TEST_F(PeersTest, RemembersManyDeathsAndAsksAboutTheOlderOnes) {
  for (ActorId actor = 1; actor <= Peers::kMostDead + 1; ++actor)
    peers.on_died({.actor = actor, .cause = "exit code 1"});
  EXPECT_EQ(error_of(peers.call(2, "m", "")).code, Code::NotSent);
  EXPECT_TRUE(watched.empty());
  peers.call(1, "m", "");
  EXPECT_EQ(watched, std::vector<ActorId>{1});
}

TEST_F(PeersTest, ManyThreadsCallOneActor) {
  const auto actor = start(1);
  constexpr int kThreads = 4, kCalls = 200;
  std::thread server([&] {
    for (int i = 0; i < kThreads * kCalls; ++i) {
      const Mailbox::Letter& letter = actor->take();
      answer(letter, std::string(letter.arguments.view()));
    }
  });
  std::vector<std::thread> callers;
  for (int t = 0; t < kThreads; ++t)
    callers.emplace_back([&, t] {
      for (int i = 0; i < kCalls; ++i) {
        const std::string argument = std::to_string(t) + "." + std::to_string(i);
        EXPECT_EQ(answer_of(peers.call(kCallee, "m", argument)), argument);
      }
    });
  for (std::thread& caller : callers) caller.join();
  server.join();
}

}  // namespace
}  // namespace rt::detail
