#include "rt/actors/mailbox.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <cstring>
#include <filesystem>

#include "rt/actors/io_thread.h"
#include "rt/runtime/base/temporary_folder.h"
#include "rt/runtime/net/ring_transport.h"

namespace rt::detail {
namespace {

constexpr std::uint64_t kActor = 7;
constexpr std::uint32_t kIncarnation = 2;

// A caller that the test leads by hand.
class Caller {
 public:
  explicit Caller(const std::string& address)
      : transport_(
            make_ring_transport(io_.io(), connect_unix_socket(address).get().release(), RingSide::Connecting).get()) {
    io_.poller().attend();
    transport_->start({.on_frame =
                           [this](const Frame& frame) {
                             const std::lock_guard lock(mutex_);
                             replies_.emplace_back(frame.body);
                             changed_.notify_one();
                           },
                       .on_close =
                           [this](const Error&) {
                             const std::lock_guard lock(mutex_);
                             is_closed_ = true;
                             changed_.notify_one();
                           }});
  }
  ~Caller() {
    transport_->close();
    io_.stop();
  }

  void call(std::uint64_t sequence, const std::string& arguments, std::uint64_t actor = kActor,
            std::uint32_t incarnation = kIncarnation) {
    const wire::CallHeader header{.sequence = sequence, .incarnation = incarnation};
    send(FrameType::Call, std::string(reinterpret_cast<const char*>(&header), sizeof header) + arguments, actor);
  }
  void send(FrameType type, const std::string& body, std::uint64_t actor = kActor) {
    ASSERT_TRUE(transport_->send(type, actor, body));
    transport_->alert();
  }
  // The outcome and text of the next reply.
  std::pair<wire::Outcome, std::string> reply() {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, kPatience, [this] { return !replies_.empty(); }));
    const std::string body = replies_.empty() ? std::string(sizeof(wire::CallHeader), '\0') : replies_.front();
    if (!replies_.empty()) replies_.pop_front();
    wire::CallHeader header;
    std::memcpy(&header, body.data(), sizeof header);
    return {header.outcome, body.substr(sizeof header)};
  }
  bool has_reply() {
    const std::lock_guard lock(mutex_);
    return !replies_.empty();
  }
  bool was_closed() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, [this] { return is_closed_; });
  }

 private:
  static constexpr std::chrono::seconds kPatience{60};
  IoThread io_;
  std::shared_ptr<Transport> transport_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> replies_;
  bool is_closed_ = false;
};

class MailboxTest : public ::testing::Test {
 protected:
  void open(Mailbox::Limits limits = {}, std::function<bool(const Mailbox::Letter&)> urgent = nullptr) {
    mailbox = std::make_unique<Mailbox>(io->io(), kActor, kIncarnation, limits);
    mailbox->set_urgent(std::move(urgent));
    const Status opened = mailbox->open(address);
    ASSERT_TRUE(opened) << opened.error().message;
  }
  void TearDown() override {
    if (io) end();
  }
  void end() {
    io->stop();
    mailbox.reset();
    io.reset();
  }
  const TemporaryFolder folder;
  const std::string address = folder.path() / "actor";
  std::unique_ptr<IoThread> io = std::make_unique<IoThread>();
  std::unique_ptr<Mailbox> mailbox;
};

TEST_F(MailboxTest, HandsOutEachCallersCallsInOrderWithTheWayBack) {
  open();
  Caller one(address), two(address);
  for (int i = 1; i <= 3; ++i) one.call(static_cast<std::uint64_t>(i), "one");
  two.call(9, "two");
  std::vector<std::uint64_t> of_one;
  for (int i = 0; i < 4; ++i) {
    const Mailbox::Letter& letter = mailbox->take();
    if (letter.arguments.view() == "one")
      of_one.push_back(letter.header.sequence);
    else
      EXPECT_EQ(letter.arguments.view(), "two");
    ASSERT_TRUE(letter.from->send(FrameType::Reply, kActor,
                                  {reinterpret_cast<const char*>(&letter.header), sizeof letter.header}, "back"));
  }
  EXPECT_EQ(of_one, (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_EQ(two.reply(), (std::pair{wire::Outcome::Returned, std::string("back")}));
}

// What it has no room for waits on its way here, whatever the bound: all of it comes, in order.
TEST_F(MailboxTest, HoldsCallersWhileItIsFullAndLosesNothing) {
  for (const Mailbox::Limits& limits : {Mailbox::Limits{.max_letters = 2}, Mailbox::Limits{.max_bytes = 10}}) {
    open(limits);
    Caller caller(address);
    for (std::uint64_t i = 1; i <= 100; ++i) caller.call(i, i % 7 == 0 ? std::string(100, 'x') : "y");
    for (std::uint64_t i = 1; i <= 100; ++i) ASSERT_EQ(mailbox->take().header.sequence, i);
    mailbox.reset();
    std::filesystem::remove(address);
  }
}

TEST_F(MailboxTest, LettersThatAreSetAsideCountUntilTheyArePickedUp) {
  open({.max_letters = 1}, [](const Mailbox::Letter& letter) {
    if (letter.arguments.view() != "urgent") return false;
    return bool(letter.from->send(FrameType::Reply, kActor,
                                  {reinterpret_cast<const char*>(&letter.header), sizeof letter.header}));
  });
  Caller caller(address);
  caller.call(1, "");
  Mailbox::Letter letter = std::move(mailbox->take());
  mailbox->set_aside(letter);
  caller.call(2, "urgent");
  EXPECT_FALSE(caller.has_reply()) << "it is held, and so is what it says";
  mailbox->picked_up(letter);
  EXPECT_EQ(caller.reply().first, wire::Outcome::Returned);
}

TEST_F(MailboxTest, RunsUrgentCallsWhileOthersWait) {
  open({}, [](const Mailbox::Letter& letter) {
    if (letter.arguments.view() != "urgent") return false;
    return bool(letter.from->send(FrameType::Reply, kActor,
                                  {reinterpret_cast<const char*>(&letter.header), sizeof letter.header}));
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
  end();
  EXPECT_TRUE(caller.was_closed());
}

}  // namespace
}  // namespace rt::detail
