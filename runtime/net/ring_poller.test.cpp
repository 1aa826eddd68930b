#include "rt/runtime/net/ring_poller.h"

#include <gmock/gmock.h>

#include <map>
#include <thread>

#include "rt/runtime/base/spawn_process.h"
#include "rt/runtime/net/ring_transport.h"

namespace rt {
namespace {

using namespace std::chrono_literals;

TimePoint in(std::chrono::milliseconds time) { return SystemClock().now() + time; }

// An event loop on a thread of its own.
class Loop {
 public:
  ~Loop() {
    work.reset();
    io.stop();
    thread.join();
  }
  RingPoller& poller() { return poller_; }

  boost::asio::io_context io{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{io.get_executor()};

 private:
  RingPoller& poller_ = RingPoller::of(io);  // before there is another thread
  std::thread thread{[this] { io.run(); }};
};

// Answers each call with its body, from its own event loop, or from a thread that waits for calls.
class Echo {
 public:
  explicit Echo(Fd socket) : transport_(make_ring_transport(loop_.io, socket.release(), RingSide::Accepting).get()) {
    loop_.poller().attend();
    transport_->start(
        {.on_frame = [this](const Frame& frame) { (void)transport_->send(FrameType::Reply, frame.route, frame.body); },
         .on_close = [](const Error&) {}});
  }
  ~Echo() { transport_->close(); }

 private:
  Loop loop_;
  std::shared_ptr<Transport> transport_;
};

// Calls by number; a thread waits for the answer of its own.
class Caller {
 public:
  explicit Caller(Fd socket) : transport_(make_ring_transport(loop_.io, socket.release(), RingSide::Connecting).get()) {
    transport_->start({.on_frame =
                           [this](const Frame& frame) {
                             const std::lock_guard lock(mutex_);
                             answers_[frame.route] = std::string(frame.body);
                             poller().complete(*waiters_.at(frame.route));
                           },
                       .on_close = [](const Error&) {}});
  }
  ~Caller() { transport_->close(); }
  RingPoller& poller() { return loop_.poller(); }

  std::string call(std::uint64_t number, const std::string& body) {
    Waiter waiter;
    {
      const std::lock_guard lock(mutex_);
      waiters_[number] = &waiter;
    }
    EXPECT_TRUE(transport_->send(FrameType::Call, number, body));
    EXPECT_TRUE(poller().wait(waiter, in(60s)));
    const std::lock_guard lock(mutex_);
    waiters_.erase(number);
    return answers_[number];
  }

 private:
  Loop loop_;
  std::shared_ptr<Transport> transport_;
  std::mutex mutex_;
  std::map<std::uint64_t, Waiter*> waiters_;
  std::map<std::uint64_t, std::string> answers_;
};

struct Pair {
  Pair() {
    auto [a, b] = socket_pair().get();
    echo = std::make_unique<Echo>(std::move(a));
    caller = std::make_unique<Caller>(std::move(b));
  }
  std::unique_ptr<Echo> echo;
  std::unique_ptr<Caller> caller;
};

TEST(RingPoller, GivesAWaitingThreadItsAnswer) {
  Pair pair;
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(pair.caller->call(1, std::to_string(i)), std::to_string(i));
}

TEST(RingPoller, LosesNobodyAmongManyThreadsThatWait) {
  Pair pair;
  std::vector<std::thread> threads;
  for (std::uint64_t thread = 1; thread <= 8; ++thread)
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 500; ++i) {
        const std::string body = std::to_string(thread) + "/" + std::to_string(i);
        ASSERT_EQ(pair.caller->call(thread * 1000 + static_cast<std::uint64_t>(i), body), body);
      }
    });
  for (auto& thread : threads) thread.join();
}

TEST(RingPoller, EndsAWaitAtItsTimeWhoeverLeads) {
  Loop loop;
  Waiter first, second;
  std::thread leader([&] { EXPECT_FALSE(loop.poller().wait(first, in(100ms))); });
  EXPECT_FALSE(loop.poller().wait(second, in(20ms)));
  leader.join();
}

TEST(RingPoller, IsToldOfWhatAnotherThreadCompletes) {
  Loop loop;
  Waiter first, second;
  std::thread other([&] {
    Waiter never;
    for (Waiter* waiter : {&second, &first}) {
      EXPECT_FALSE(loop.poller().wait(never, in(5ms)));  // both others wait by then; right if not, too
      loop.poller().complete(*waiter);
    }
  });
  std::thread waits([&] { EXPECT_TRUE(loop.poller().wait(second, in(60s))); });
  EXPECT_TRUE(loop.poller().wait(first, in(60s)));
  waits.join();
  other.join();
}

// Each of them leads for a moment, gives up, and leaves the lead to another while answers come in.
TEST(RingPoller, HandsTheLeadOnWhereOneGivesUp) {
  Pair pair;
  std::atomic<bool> is_over{false};
  std::vector<std::thread> impatient;
  for (int i = 0; i < 3; ++i)
    impatient.emplace_back([&] {
      while (!is_over) {
        Waiter never;
        EXPECT_FALSE(pair.caller->poller().wait(never, in(1ms)));
      }
    });
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(pair.caller->call(1, std::to_string(i)), std::to_string(i));
  is_over = true;
  for (auto& thread : impatient) thread.join();
}

// A wait that begins long after the one before, so that what it follows isn't taken for a quick exchange.
class SpinBudgetTest : public ::testing::Test {
 protected:
  SpinBudget::Nanoseconds begin(bool rang = false, std::chrono::nanoseconds after = 1s) {
    return budget.begin(now += after, rang);
  }
  // How many quick waits after a ring don't spin before one does.
  int waits_until_trial() {
    int waits = 0;
    while (begin(/*rang=*/true, 10us) == 0ns) ++waits;
    return waits;
  }
  SpinBudget budget;
  TimePoint now{};
};

TEST_F(SpinBudgetTest, GrowsBySuccessAndShrinksByTwoFailures) {
  EXPECT_EQ(begin(), 20us);
  budget.failed();
  EXPECT_EQ(begin(), 20us);
  budget.failed();
  EXPECT_EQ(begin(), 10us);
  for (int i = 0; i < 20; ++i) budget.failed();
  EXPECT_EQ(begin(), 1us);
  budget.succeeded();
  EXPECT_EQ(begin(), 2us);
  for (int i = 0; i < 20; ++i) budget.succeeded();
  EXPECT_EQ(begin(), 20us);
}

TEST_F(SpinBudgetTest, IsNothingForAWhileAfterTheCoreWasTakenAway) {
  begin();
  budget.looked(now - 30us, now);
  EXPECT_EQ(begin(false, 1us), 20us);
  budget.looked(now - 31us, now);
  EXPECT_EQ(begin(false, 154us), 0us);
  EXPECT_EQ(begin(false, 2us), 20us);
}

TEST_F(SpinBudgetTest, IsNothingForWhoHasJustRungUnlessWaitsFollowEachOtherQuickly) {
  for (int i = 0; i < 100; ++i) EXPECT_EQ(begin(/*rang=*/true), 0us);
}

TEST_F(SpinBudgetTest, TriesOneWaitInManyAndEverySecondTimeOnAnotherCore) {
  begin();
  EXPECT_EQ(waits_until_trial(), 7);
  EXPECT_FALSE(budget.steps_aside());
  budget.failed();
  EXPECT_EQ(waits_until_trial(), 7);
  EXPECT_TRUE(budget.steps_aside());
  budget.failed();
  EXPECT_EQ(waits_until_trial(), 15);
  EXPECT_FALSE(budget.steps_aside());
  for (int i = 0; i < 100; ++i) {
    budget.failed();
    waits_until_trial();
  }
  EXPECT_EQ(waits_until_trial(), 1023);
  budget.succeeded();
  EXPECT_EQ(begin(false, 10us), 20us);
  EXPECT_EQ(waits_until_trial(), 7);
}

TEST_F(SpinBudgetTest, TriesLongEnoughForAHaltedCoreToWake) {
  begin();
  while (true)
    if (const auto time = begin(/*rang=*/true, 10us); time > 0ns) {
      EXPECT_EQ(time, 100us);
      break;
    }
}

}  // namespace
}  // namespace rt
