#include "rt/runtime/net/ring_transport.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "rt/runtime/base/spawn_process.h"
#include "rt/runtime/net/bell.h"
#include "rt/runtime/net/pass_fds.h"
#include "rt/runtime/net/ring.h"
#include "rt/runtime/net/ring_poller.h"
#include "rt/runtime/net/transport.conformance.h"

namespace rt {
namespace {

using conformance::Listening;
using ::testing::HasSubstr;

conformance::TransportPair ring_pair(boost::asio::io_context& io, TransportLimits limits) {
  auto [a, b] = socket_pair().get();
  RingPoller::of(io).attend();
  return {make_ring_transport(io, a.release(), RingSide::Connecting, limits).get(),
          make_ring_transport(io, b.release(), RingSide::Accepting, limits).get()};
}

constexpr std::uint32_t kCall = static_cast<std::uint32_t>(FrameType::Call);

// A transport whose other end is in the test's hand: the socket, the shared memory and the bell of a peer that keeps to
// no rule.
class HostileRing : public ::testing::Test {
 protected:
  void SetUp() override {
    RingPoller::of(io).attend();
    reconnect();
  }
  void reconnect(TransportLimits limits = {}) {
    auto [mine, theirs] = socket_pair().get();
    peer = std::move(mine);
    end = std::make_unique<Listening>(make_ring_transport(io, theirs.release(), RingSide::Accepting, limits).get());
    memory = make_shared_memory("test", RingLayout::kBytes).get();
  }
  std::string hello(std::string_view magic = "rt-ring", std::uint32_t version = 2,
                    std::uint32_t capacity = RingLayout::kCapacity) const {
    std::string bytes(16, '\0');
    std::memcpy(bytes.data(), magic.data(), magic.size());
    std::memcpy(bytes.data() + 8, &version, sizeof version);
    std::memcpy(bytes.data() + 12, &capacity, sizeof capacity);
    return bytes;
  }
  std::vector<Fd> fds(int ring_memory) const {
    BellFds of_peer = bell.fds_for_peer().get();
    std::vector<Fd> fds;
    fds.push_back(std::move(of_peer.memory));
    fds.push_back(std::move(of_peer.event));
    if (ring_memory >= 0) fds.emplace_back(::fcntl(ring_memory, F_DUPFD_CLOEXEC, 0));
    return fds;
  }
  void say_hello() {
    ASSERT_TRUE(send_with_fds(peer.get(), hello(), fds(memory.get())));
    run();
    ASSERT_THAT(end->closed, ::testing::IsEmpty());
  }
  RingWriter writer() const { return RingWriter(Ring::map(memory.get(), 0).get()); }
  void put(std::size_t at, const void* bytes, std::size_t size) {
    const Mapping data = map_shared(memory.get(), RingLayout::data_offset(0), RingLayout::kCapacity).get();
    std::memcpy(data.data() + at, bytes, size);
  }
  // Rings the reader's bell as a peer does: its hello is on the socket.
  void ring() {
    auto received = receive_with_fds(peer.get(), 16, 3).get();
    ASSERT_EQ(received.fds.size(), 2);
    Bell::of({std::move(received.fds[0]), std::move(received.fds[1])}).get().ring();
    run();
  }
  void run() {
    io.restart();
    while (io.poll() > 0) {
    }
  }
  void expect_corrupt(const std::string& says) {
    ASSERT_EQ(end->closed.size(), 1) << says;
    EXPECT_EQ(end->closed.front().code, Code::Corrupt);
    EXPECT_THAT(end->closed.front().message, HasSubstr(says));
    EXPECT_EQ(end->transport->send(FrameType::Reply, 0, "").error().code, Code::NotSent);
  }

  boost::asio::io_context io{1};
  OwnBell bell = OwnBell::make().get();
  Fd peer, memory;
  std::unique_ptr<Listening> end;
};

TEST_F(HostileRing, IsReadLikeAnyWhileItKeepsToTheRules) {
  say_hello();
  auto out = writer();
  ASSERT_TRUE(out.write(kCall, 5, "he", "llo"));
  ring();
  EXPECT_THAT(end->heard, ::testing::ElementsAre(Listening::Heard{FrameType::Call, 5, "hello"}));
}

struct BadRecord {
  const char* name;
  FrameHeader header;
  const char* says;
};

class HostileRecord : public HostileRing, public ::testing::WithParamInterface<BadRecord> {};

TEST_P(HostileRecord, ClosesTheConnection) {
  say_hello();
  put(0, &GetParam().header, sizeof(FrameHeader));
  ring();
  expect_corrupt(GetParam().says);
  EXPECT_THAT(end->heard, ::testing::IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    Each, HostileRecord,
    ::testing::Values(BadRecord{"LongerThanARecord", {65537, kCall, 0}, "a record of 65537 bytes, where none has more"},
                      BadRecord{"LongerThanTheRing", {0xFFFFFFFF, kCall, 0}, "a record of 4294967295 bytes"},
                      BadRecord{"OfNoType", {8, 77, 0}, "size 8, type 77"},
                      BadRecord{"OfTypeNought", {8, 0, 0}, "type 0"}),
    [](const auto& info) { return info.param.name; });

// The writer may fill the ring again and again where the reader goes on: each record is looked at by itself.
TEST_F(HostileRing, IsReadOnWhereItWritesOverWhatWasRead) {
  say_hello();
  auto out = writer();
  ASSERT_TRUE(out.write(kCall, 0, "x"));
  ring();
  const FrameHeader again{1, kCall, 9};
  put(0, &again, sizeof again);
  peer.reset();
  run();
  EXPECT_EQ(end->heard.size(), 1);
  ASSERT_EQ(end->closed.size(), 1);
  EXPECT_EQ(end->closed.front().code, Code::NotSent);
}

TEST_F(HostileRing, CannotMakeTheReaderKeepMoreThanAFrameMayHold) {
  reconnect({.max_frame = 100});
  say_hello();
  auto out = writer();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(out.write(kCall | kMore, 0, std::string(50, 'x')));
  ring();
  expect_corrupt("size 150");
}

TEST_F(HostileRing, DyingInAFrameTakesOnlyThatFrameAlong) {
  say_hello();
  auto out = writer();
  ASSERT_TRUE(out.write(kCall, 1, "whole"));
  ASSERT_TRUE(out.write(kCall | kMore, 2, "the first half"));
  put(512, "not committed", 13);
  peer.reset();
  run();
  EXPECT_THAT(end->heard, ::testing::ElementsAre(Listening::Heard{FrameType::Call, 1, "whole"}));
  ASSERT_EQ(end->closed.size(), 1);
  EXPECT_EQ(end->closed.front().code, Code::NotSent);
}

TEST_F(HostileRing, IsRefusedWithMemoryThatItCouldShrink) {
  const Fd unsealed(::memfd_create("test", MFD_CLOEXEC));
  ASSERT_EQ(::ftruncate(unsealed.get(), RingLayout::kBytes), 0);
  ASSERT_TRUE(send_with_fds(peer.get(), hello(), fds(unsealed.get())));
  run();
  expect_corrupt("isn't sealed");
}

TEST_F(HostileRing, IsRefusedWithMemoryOfAnotherSize) {
  const Fd small = make_shared_memory("test", 4096).get();
  ASSERT_TRUE(send_with_fds(peer.get(), hello(), fds(small.get())));
  run();
  expect_corrupt("has 4096 bytes, wanted");
}

TEST_F(HostileRing, IsRefusedWithoutItsDescriptors) {
  ASSERT_TRUE(send_with_fds(peer.get(), hello(), fds(-1)));
  run();
  expect_corrupt("passed 2 descriptors");
}

TEST_F(HostileRing, IsRefusedWhereItSpeaksOfSomethingElse) {
  ASSERT_TRUE(send_with_fds(peer.get(), hello("GET / HT"), fds(memory.get())));
  run();
  expect_corrupt("doesn't speak of rings");
}

TEST_F(HostileRing, IsRefusedInAnotherVersionNamingBoth) {
  ASSERT_TRUE(send_with_fds(peer.get(), hello("rt-ring", 7, 4096), fds(memory.get())));
  run();
  expect_corrupt("version 7 with 4096 bytes, this side version 2 with 262144");
}

TEST_F(HostileRing, MayHangUpBeforeItHasSaidAnything) {
  peer.reset();
  run();
  ASSERT_EQ(end->closed.size(), 1);
  EXPECT_EQ(end->closed.front().code, Code::NotSent);
}

// Its end is seen before this side has opened the connection, or at any time after.
class KilledPeer : public ::testing::TestWithParam<bool> {};

TEST_P(KilledPeer, LastWordsAreHeardAndThenItsEnd) {
  auto [mine, theirs] = socket_pair().get();
  const pid_t child = ::fork();
  if (child == 0) {
    mine.reset();
    boost::asio::io_context io{1};
    const auto transport = make_ring_transport(io, theirs.release(), RingSide::Connecting).get();
    transport->start({.on_frame = [](const Frame&) {}, .on_close = [](const Error&) {}});
    (void)transport->send(FrameType::Call, 1, "last words");
    ::raise(SIGKILL);
  }
  theirs.reset();
  if (GetParam()) ::waitpid(child, nullptr, 0);
  boost::asio::io_context io{1};
  RingPoller::of(io).attend();
  Listening end(make_ring_transport(io, mine.release(), RingSide::Accepting).get());
  while (end.closed.empty()) io.run_one();
  if (!GetParam()) ::waitpid(child, nullptr, 0);
  EXPECT_THAT(end.heard, ::testing::ElementsAre(Listening::Heard{FrameType::Call, 1, "last words"}));
  EXPECT_EQ(end.closed.front().code, Code::NotSent);
}
INSTANTIATE_TEST_SUITE_P(RingTransport, KilledPeer, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "BeforeOpening" : "AtAnyTime"; });

}  // namespace

namespace conformance {
INSTANTIATE_TEST_SUITE_P(Ring, TransportConformance, ::testing::Values(&ring_pair),
                         [](const auto&) { return std::string("Pair"); });
}  // namespace conformance
}  // namespace rt
