#include "rt/runtime/net/transport.conformance.h"

#include <cstdlib>

namespace rt::conformance {

TEST_P(TransportConformance, CarriesTypeRouteAndBothPartsOfABody) {
  connect();
  ASSERT_TRUE(left->transport->send(FrameType::Call, 7, "head", "tail"));
  ASSERT_TRUE(right->transport->send(FrameType::Reply, ~0ull, ""));
  run_until([&] { return right->heard.size() == 1 && left->heard.size() == 1; });
  EXPECT_EQ(right->heard.front(), (Listening::Heard{FrameType::Call, 7, "headtail"}));
  EXPECT_EQ(left->heard.front(), (Listening::Heard{FrameType::Reply, ~0ull, ""}));
}

TEST_P(TransportConformance, KeepsTheOrderOfManyFramesThatTheKernelTakesInPieces) {
  connect();
  constexpr std::size_t kFrames = 2000;
  for (std::size_t i = 0; i < kFrames; ++i) ASSERT_TRUE(left->transport->send(FrameType::Call, i, body_of(i)));
  run_until([&] { return right->heard.size() == kFrames; });
  for (std::size_t i = 0; i < kFrames; ++i)
    ASSERT_EQ(right->heard[i], (Listening::Heard{FrameType::Call, i, body_of(i)}));
}

// From one byte to 64 MiB, around each power of two; RT_TEST_HUGE_FRAMES=1 adds 1 GiB.
TEST_P(TransportConformance, CarriesFramesOfEverySize) {
  connect({.max_frame = std::size_t{1} << 30, .max_queue = std::size_t{2} << 30});
  std::vector<std::size_t> sizes{0, 1, 7, 8, 9};
  for (std::size_t size = 1 << 10; size <= std::size_t{64} << 20; size *= 8)
    for (const std::size_t near : {size - 1, size, size + 1}) sizes.push_back(near);
  sizes.push_back(std::size_t{64} << 20);
  if (std::getenv("RT_TEST_HUGE_FRAMES")) sizes.push_back(std::size_t{1} << 30);
  for (const std::size_t size : sizes) {
    const std::string body = body_of(size);
    ASSERT_TRUE(left->transport->send(FrameType::Call, size, body));
    run_until([&] { return right->heard.size() == 1; });
    ASSERT_EQ(right->heard.front().route, size);
    ASSERT_TRUE(right->heard.front().body == body) << "a frame of " << size << " bytes came out changed";
    right->heard.clear();
  }
}

TEST_P(TransportConformance, RefusesAFrameOverTheLimitAndSendsNothingOfIt) {
  connect({.max_frame = 100});
  const Status sent = left->transport->send(FrameType::Call, 0, body_of(101));
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code, Code::Invalid);
  ASSERT_TRUE(left->transport->send(FrameType::Call, 1, body_of(100)));
  run_until([&] { return right->heard.size() == 1; });
  EXPECT_EQ(right->heard.front().route, 1);
}

TEST_P(TransportConformance, PushesBackWhenThePeerDoesNotReadAndLosesNothing) {
  connect({.max_frame = 1 << 20, .max_queue = 4 << 20});
  const std::string body = body_of(1 << 16);
  std::size_t taken = 0;
  Status sent = Unit{};
  while ((sent = left->transport->send(FrameType::Call, taken, body))) ++taken;
  EXPECT_EQ(sent.error().code, Code::Unavailable);
  EXPECT_LE(taken, 200);  // the queue's 64 and what the kernel holds, whose bound is the machine's
  run_until([&] { return right->heard.size() == taken; });
  for (std::size_t i = 0; i < taken; ++i) ASSERT_EQ(right->heard[i].route, i);
  ASSERT_TRUE(left->transport->send(FrameType::Call, taken, body));
  run_until([&] { return right->heard.size() == taken + 1; });
}

TEST_P(TransportConformance, HandsOutNothingWhileItIsHeldAndAllOfItLater) {
  connect({.max_frame = 1 << 20, .max_queue = 1 << 20});
  right->during_frame = [&] {
    if (right->heard.size() == 2) right->transport->hold();
  };
  const std::string body = body_of(1 << 10);
  std::size_t taken = 0;
  while (left->transport->send(FrameType::Call, taken, body)) ++taken;  // until it pushes back
  run_until([&] { return right->heard.size() == 2; });
  for (int i = 0; i < 1000; ++i) io.poll_one();
  EXPECT_EQ(right->heard.size(), 2);
  EXPECT_EQ(left->transport->send(FrameType::Call, taken, body_of(1 << 20)).error().code, Code::Unavailable);
  left->transport->close();
  right->transport->resume();
  run_until([&] { return !right->closed.empty(); });
  for (std::size_t i = 0; i < right->heard.size(); ++i) ASSERT_EQ(right->heard[i].route, i);
  EXPECT_GT(right->heard.size(), 2);
}

TEST_P(TransportConformance, TellsOfThePeersEndOnceAfterAllThatItHadSent) {
  connect();
  ASSERT_TRUE(left->transport->send(FrameType::Call, 1, "the last word"));
  left->transport->close();
  run_until([&] { return !right->closed.empty(); });
  EXPECT_EQ(right->heard.size(), 1);
  ASSERT_EQ(right->closed.size(), 1);
  EXPECT_EQ(right->closed.front().code, Code::NotSent);
  EXPECT_EQ(right->transport->send(FrameType::Call, 2, "too late").error().code, Code::NotSent);
  EXPECT_TRUE(left->closed.empty());
  EXPECT_EQ(left->transport->send(FrameType::Call, 2, "too late").error().code, Code::NotSent);
}

TEST_P(TransportConformance, CallsNoHandlerOnceItWasClosedInOne) {
  connect();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(left->transport->send(FrameType::Call, 0, "one of three"));
  right->during_frame = [&] { right->transport->close(); };
  run_until([&] { return !left->closed.empty(); });
  io.poll();
  EXPECT_EQ(right->heard.size(), 1);
  EXPECT_TRUE(right->closed.empty());
}

// The ends may be closed while a frame is half on its way, whichever end, and whatever still lies in the queue.
TEST_P(TransportConformance, EndsCleanlyInTheMiddleOfAFrameAtEitherEnd) {
  for (const bool reader_closes : {false, true}) {
    connect();
    ASSERT_TRUE(left->transport->send(FrameType::Call, 0, body_of(8 << 20)));
    io.run_one();
    Listening& stays = reader_closes ? *left : *right;
    (reader_closes ? *right : *left).transport->close();
    run_until([&] { return !stays.closed.empty(); });
    EXPECT_EQ(stays.closed.size(), 1);
    EXPECT_TRUE(right->heard.empty());
  }
}

TEST_P(TransportConformance, GoesWithItsEventLoopWhoeverHoldsIt) {
  std::weak_ptr<Transport> seen;
  {
    boost::asio::io_context own;
    auto [a, b] = GetParam()(own, {});
    seen = a;
    a->start({.on_frame = [](const Frame&) {}, .on_close = [](const Error&) {}});
  }
  EXPECT_TRUE(seen.expired());
}

}  // namespace rt::conformance
