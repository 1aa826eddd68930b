#include "rt/runtime/net/unix_socket.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <malloc.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/post.hpp>
#include <random>

#include "rt/runtime/base/spawn_process.h"
#include "rt/runtime/base/temporary_folder.h"
#include "rt/runtime/net/blocking_frames.h"
#include "rt/runtime/net/frame_header.h"
#include "rt/runtime/net/transport.conformance.h"

namespace rt {
namespace {

using conformance::body_of;
using conformance::Listening;
using testing::HasSubstr;

conformance::TransportPair unix_pair(boost::asio::io_context& io, TransportLimits limits) {
  auto [a, b] = socket_pair().get();
  return {make_unix_transport(io, a.release(), limits), make_unix_transport(io, b.release(), limits)};
}

std::string frame_bytes(std::uint32_t type, std::uint64_t route, const std::string& body) {
  const FrameHeader header{static_cast<std::uint32_t>(body.size()), type, route};
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) + body +
         std::string(frame_padding(body.size()), '\0');
}

// A transport whose other end is a plain socket in the test's hand.
class UnixSocket : public ::testing::Test {
 protected:
  void SetUp() override { reconnect(); }
  void reconnect(TransportLimits limits = {}) {
    auto [mine, theirs] = socket_pair().get();
    peer = std::move(mine);
    end = std::make_unique<Listening>(make_unix_transport(io, theirs.release(), limits));
  }
  void write(std::string_view bytes) { ASSERT_TRUE(write_all(peer.get(), bytes, "the peer")); }
  void run() {
    io.restart();
    while (io.poll() > 0) {
    }
  }
  boost::asio::io_context io{1};
  Fd peer;
  std::unique_ptr<Listening> end;
};

TEST_F(UnixSocket, PutsFramesTogetherFromSingleBytes) {
  for (const char byte : frame_bytes(2, 5, "hello") + frame_bytes(3, 6, "")) {
    write({&byte, 1});
    run();
  }
  EXPECT_EQ(end->heard, (std::vector<Listening::Heard>{{FrameType::Call, 5, "hello"}, {FrameType::Reply, 6, ""}}));
}

TEST_F(UnixSocket, HearsNothingOfAFrameWhoseWriterDiedAtAnyByteOfIt) {
  const std::string bytes = frame_bytes(2, 5, "hello");
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    reconnect();
    write(bytes.substr(0, cut));
    run();
    peer.reset();
    run();
    EXPECT_TRUE(end->heard.empty()) << "cut at byte " << cut;
    ASSERT_EQ(end->closed.size(), 1);
    EXPECT_EQ(end->closed.front().code, Code::NotSent);
  }
}

TEST_F(UnixSocket, ClosesOnAHeaderThatMakesNoSense) {
  struct Case {
    FrameHeader header;
    const char* named;
  };
  for (const Case& hostile :
       {Case{{8, 0, 0}, "type 0"}, Case{{8, 77, 0}, "type 77"}, Case{{8, ~0u, 0}, "type 4294967295"},
        Case{{101, 1, 0}, "size 101"}, Case{{~0u, 1, 0}, "size 4294967295"}}) {
    reconnect({.max_frame = 100});
    write({reinterpret_cast<const char*>(&hostile.header), sizeof hostile.header});
    run();
    ASSERT_EQ(end->closed.size(), 1);
    EXPECT_EQ(end->closed.front().code, Code::Corrupt);
    EXPECT_THAT(end->closed.front().message, HasSubstr(hostile.named));
    char byte;
    EXPECT_EQ(::recv(peer.get(), &byte, 1, 0), 0);
  }
}

TEST_F(UnixSocket, SurvivesRandomBytes) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 300; ++round) {
    reconnect({.max_frame = 4096});
    std::string bytes(random() % 200 + 16, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    if (round % 2) bytes.replace(0, 8, std::string("\x20\0\0\0\1\0\0\0", 8));  // a first frame that is one
    write(bytes);
    peer.reset();
    run();
    EXPECT_EQ(end->closed.size(), 1);
    EXPECT_LE(end->heard.size(), 1 + bytes.size() / sizeof(FrameHeader));
  }
}

// A peer that has shut down its reading side: what is sent to it can't arrive, and the connection ends.
TEST_F(UnixSocket, EndsWhenThePeerNoLongerReads) {
  write(frame_bytes(2, 1, "said before"));
  ASSERT_EQ(::shutdown(peer.get(), SHUT_RD), 0);
  ASSERT_TRUE(end->transport->send(FrameType::Call, 0, "into the void"));
  run();
  EXPECT_EQ(end->heard.size(), 1);
  EXPECT_EQ(end->closed.size(), 1);
}

// A queue that never runs empty: it must not keep what has gone out already. The peer is always 1 MiB behind.
TEST_F(UnixSocket, KeepsOnlyWhatThePeerHasNotRead) {
  reconnect({.max_frame = 1 << 20, .max_queue = 4 << 20});
  const std::string body = body_of(1 << 18);
  std::vector<char> sink(1 << 18);
  std::size_t ahead = 0, sent = 0;
  const std::size_t before = ::mallinfo2().uordblks;  // 0 under a sanitizer
  while (sent < std::size_t{256} << 20) {
    for (; ahead < std::size_t{1} << 20; ahead += body.size(), sent += body.size())
      ASSERT_TRUE(end->transport->send(FrameType::Call, 0, body));
    const ssize_t n = ::recv(peer.get(), sink.data(), sink.size(), 0);
    ASSERT_GT(n, 0);
    ahead -= std::min(ahead, static_cast<std::size_t>(n));
    run();
    ASSERT_LT(::mallinfo2().uordblks, before + (std::size_t{16} << 20)) << "after " << sent << " bytes";
  }
}

TEST_F(UnixSocket, SpeaksTheSameBytesAsTheBlockingFrames) {
  ASSERT_TRUE(write_control(peer.get(), "from a process of one thread"));
  run();
  ASSERT_EQ(end->heard, (std::vector<Listening::Heard>{{FrameType::Control, 0, "from a process of one thread"}}));
  ASSERT_TRUE(end->transport->send(FrameType::Control, 0, "back"));
  EXPECT_EQ(read_control(peer.get()).get(), "back");
  ASSERT_TRUE(end->transport->send(FrameType::Call, 0, "no control"));
  EXPECT_EQ(read_control(peer.get()).error().code, Code::Corrupt);
  reconnect();
  end->transport->close();
  EXPECT_EQ(read_control(peer.get()).error().code, Code::NotSent);
}

TEST_F(UnixSocket, IsClosedInPrograms) {
  auto [a, b] = socket_pair().get();
  ::fcntl(a.get(), F_SETFD, 0);  // as one that was inherited is
  const int fd = a.release();
  const auto transport = make_unix_transport(io, fd);
  EXPECT_EQ(::fcntl(fd, F_GETFD), FD_CLOEXEC);
}

TEST(UnixListener, AcceptsAndRemovesItsFile) {
  const TemporaryFolder folder;
  const std::string path = folder.path() / "sock";
  boost::asio::io_context io{1};
  std::vector<Fd> accepted;
  {
    auto listener = UnixListener::open(io, path, [&](Fd socket) { accepted.push_back(std::move(socket)); });
    ASSERT_TRUE(listener) << listener.error().message;
    const auto one = connect_unix(io, path), two = connect_unix(io, path);
    ASSERT_TRUE(one && two);
    while (accepted.size() < 2) io.run_one();
    EXPECT_FALSE(UnixListener::open(io, path, nullptr)) << "two listeners at one path";
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_EQ(connect_unix(io, path).error().code, Code::NotSent);
}

TEST(UnixListener, MayBeDestroyedWithACallerInItsQueue) {
  const TemporaryFolder folder;
  const std::string path = folder.path() / "sock";
  boost::asio::io_context io{1};
  auto listener = *UnixListener::open(io, path, [](Fd) { ADD_FAILURE() << "accepted after its end"; });
  const auto caller = connect_unix_socket(path);
  ASSERT_TRUE(caller);
  boost::asio::post(io, [&] { listener.reset(); });
  io.poll();
}

TEST(UnixListener, RefusesAPathThatTheSystemCannotTake) {
  boost::asio::io_context io{1};
  const std::string path = "/tmp/" + std::string(103, 'x');
  for (const Error& error : {UnixListener::open(io, path, nullptr).error(), connect_unix(io, path).error()}) {
    EXPECT_EQ(error.code, Code::Invalid);
    EXPECT_THAT(error.message, HasSubstr("108 bytes long, the system allows 107"));
    EXPECT_THAT(error.message, HasSubstr("RT_RUN_DIR"));
  }
}

}  // namespace

namespace conformance {
INSTANTIATE_TEST_SUITE_P(UnixSocket, TransportConformance, testing::Values(&unix_pair),
                         [](const auto&) { return std::string("Pair"); });
}  // namespace conformance
}  // namespace rt
