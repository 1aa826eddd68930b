#include "rt/actors/mailbox.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cstring>

#include "rt/runtime/base/temporary_folder.h"
#include "rt/runtime/net/frame_header.h"

namespace rt::detail {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kActor = 7;
constexpr std::uint32_t kIncarnation = 2;

// A caller on a plain blocking socket.
class Caller {
 public:
  explicit Caller(const std::string& address) : socket_(connect_unix_socket(address).get()) {}

  void call(std::uint64_t sequence, const std::string& arguments, std::uint64_t actor = kActor,
            std::uint32_t incarnation = kIncarnation) {
    const wire::CallHeader header{
        .actor = actor, .incarnation = incarnation, .sequence = sequence, .size = arguments.size()};
    send(FrameType::Call, std::string(reinterpret_cast<const char*>(&header), sizeof header) + arguments);
  }
  void send(FrameType type, const std::string& body) {
    const FrameHeader header{static_cast<std::uint32_t>(body.size()), static_cast<std::uint32_t>(type), 0};
    const std::string bytes = std::string(reinterpret_cast<const char*>(&header), sizeof header) + body +
                              std::string(frame_padding(body.size()), '\0');
    ASSERT_TRUE(write_all(socket_.get(), bytes, "the mailbox"));
  }
  // The outcome and text of the next reply.
  std::pair<wire::Outcome, std::string> reply() {
    FrameHeader frame{};
    wire::CallHeader header;
    EXPECT_EQ(::recv(socket_.get(), &frame, sizeof frame, MSG_WAITALL), ssize_t{sizeof frame});
    EXPECT_EQ(::recv(socket_.get(), &header, sizeof header, MSG_WAITALL), ssize_t{sizeof header});
    std::string body(header.size + frame_padding(frame.size), '\0');
    if (!body.empty()) {
      EXPECT_EQ(::recv(socket_.get(), body.data(), body.size(), MSG_WAITALL), static_cast<ssize_t>(body.size()));
    }
    body.resize(header.size);
    return {header.outcome, body};
  }
  bool was_closed() {
    char byte;
    return ::recv(socket_.get(), &byte, 1, 0) <= 0;
  }

 private:
  Fd socket_;
};

class MailboxTest : public ::testing::Test {
 protected:
  void open(Mailbox::Limits limits = {}, std::function<bool(Mailbox::Letter&)> urgent = nullptr) {
    mailbox = std::make_unique<Mailbox>(kActor, kIncarnation, limits);
    mailbox->set_urgent(std::move(urgent));
    const Status opened = mailbox->open(address);
    ASSERT_TRUE(opened) << opened.error().message;
  }
  const TemporaryFolder folder;
  const std::string address = folder.path() / "actor";
  std::unique_ptr<Mailbox> mailbox;
};

TEST_F(MailboxTest, HandsOutEachCallersCallsInOrderWithTheWayBack) {
  open();
  Caller one(address), two(address);
  for (int i = 1; i <= 3; ++i) one.call(static_cast<std::uint64_t>(i), "one");
  two.call(9, "two");
  std::vector<std::uint64_t> of_one;
  for (int i = 0; i < 4; ++i) {
    const Mailbox::Letter letter = mailbox->take();
    if (letter.arguments == "one")
      of_one.push_back(letter.header.sequence);
    else
      EXPECT_EQ(letter.arguments, "two");
    wire::CallHeader header = letter.header;
    header.size = 4;
    ASSERT_TRUE(
        letter.from->send(FrameType::Reply, 0, {reinterpret_cast<const char*>(&header), sizeof header}, "back"));
  }
  EXPECT_EQ(of_one, (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_EQ(two.reply(), (std::pair{wire::Outcome::Returned, std::string("back")}));
}

TEST_F(MailboxTest, AnswersAtOnceWhatItHasNoRoomFor) {
  open({.max_letters = 2});
  Caller caller(address);
  for (std::uint64_t i = 1; i <= 3; ++i) caller.call(i, "");
  const auto [outcome, why] = caller.reply();
  EXPECT_EQ(outcome, wire::Outcome::Full);
  EXPECT_THAT(why, HasSubstr("the actor's queue is full: 2 calls"));
  EXPECT_EQ(mailbox->take().header.sequence, 1);
  caller.call(4, "");
  EXPECT_EQ(mailbox->take().header.sequence, 2);
  EXPECT_EQ(mailbox->take().header.sequence, 4);
}

TEST_F(MailboxTest, BoundsTheBytesThatWaitButTakesOneLetterOfAnySize) {
  open({.max_bytes = 10});
  Caller caller(address);
  caller.call(1, std::string(100, 'x'));
  caller.call(2, "y");
  EXPECT_EQ(caller.reply().first, wire::Outcome::Full);
  EXPECT_EQ(mailbox->take().arguments.size(), 100);
  caller.call(3, "y");
  EXPECT_EQ(mailbox->take().header.sequence, 3);
}

TEST_F(MailboxTest, RunsUrgentCallsWhileOthersWait) {
  open({}, [](Mailbox::Letter& letter) {
    if (letter.arguments != "urgent") return false;
    wire::CallHeader header = letter.header;
    header.size = 0;
    return bool(letter.from->send(FrameType::Reply, 0, {reinterpret_cast<const char*>(&header), sizeof header}));
  });
  Caller caller(address);
  caller.call(1, "waits");
  caller.call(2, "urgent");
  EXPECT_EQ(caller.reply().first, wire::Outcome::Returned);
  EXPECT_EQ(mailbox->take().header.sequence, 1);
}

TEST_F(MailboxTest, ClosesOnWhoeverCallsAnotherActorOrSendsNoCall) {
  open();
  Caller other_actor(address), older(address), reply(address), piece(address);
  other_actor.call(1, "", kActor + 1);
  EXPECT_TRUE(other_actor.was_closed());
  older.call(1, "", kActor, kIncarnation - 1);
  EXPECT_TRUE(older.was_closed());
  reply.send(FrameType::Reply, std::string(sizeof(wire::CallHeader), '\0'));
  EXPECT_TRUE(reply.was_closed());
  piece.send(FrameType::Call, "shorter than a header");
  EXPECT_TRUE(piece.was_closed());
  Caller well_behaved(address);
  well_behaved.call(1, "");
  EXPECT_EQ(mailbox->take().header.sequence, 1);
}

TEST_F(MailboxTest, EndsWithCallersConnectedAndLettersUnread) {
  open();
  Caller caller(address);
  caller.call(1, "");
  caller.call(2, "");
  EXPECT_EQ(mailbox->take().header.sequence, 1);
  mailbox.reset();
  EXPECT_TRUE(caller.was_closed());
}

}  // namespace
}  // namespace rt::detail
